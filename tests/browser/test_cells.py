"""Cells are written for people, exact on demand, and light up when they change."""

from __future__ import annotations

import datetime
import re

from playwright.sync_api import Page, expect

from evergrid.model.field_types import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    TEXT,
    TIMESTAMP,
    ColumnKind,
    FieldType,
)
from evergrid.model.table import Column, Role, Table
from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader
from tests.browser.tables import user
from tests.browser.visitor import Visitor
from tests.support.local_engine import Cell
from tests.support.local_gateway import LocalGateway

KINDS = Table(
    name="kinds",
    columns=(
        Column("words", TEXT),
        Column("whole", INTEGER),
        Column("real", FLOAT),
        Column("money", FieldType(ColumnKind.DECIMAL, precision=38, scale=2)),
        Column("member", BOOLEAN),
        Column("ts", TIMESTAMP, Role.TIME),
        Column("_partition", INTEGER, Role.TRACE),
        Column("_offset", INTEGER, Role.TRACE),
    ),
    row_id=("_partition", "_offset"),
    order=("ts", "_partition", "_offset"),
)
MOMENT = datetime.datetime(2019, 3, 5, 7, 8, 9, 123456, datetime.UTC)
LARGE: dict[str, Cell] = {
    "words": "x" * 1000,
    "whole": 2**63 - 1,
    "real": 0.1 + 0.2,
    "money": "-123456789012345678901234567890123456.78",
    "member": True,
    "ts": round(MOMENT.timestamp() * 1e6),
    "_partition": 0,
    "_offset": 1,
}
EXACT = {
    "words": "x" * 1000,
    "whole": "9223372036854775807",
    "real": "0.30000000000000004",
    "money": "-123456789012345678901234567890123456.78",
    "member": "true",
    "ts": "2019-03-05T07:08:09.123456Z",
}

# Notes every cell that is marked as changed, by row and column, from now on.
WATCH_FLASHES = """
() => {
  window.flashes = [];
  const note = ({ target }) => {
    if (!target.matches('[role=gridcell].eg-flash')) return;
    const row = target.closest('[role=row]').querySelector('[role=gridcell]').innerText;
    const name = `${row} ${target.getAttribute('col-id')}`;
    if (!window.flashes.includes(name)) window.flashes.push(name);
  };
  new MutationObserver((changes) => changes.forEach(note)).observe(document, {
    subtree: true, attributes: true, attributeFilter: ['class'],
  });
}
"""


def flashes(page: Page) -> list[str]:
    seen: list[str] = page.evaluate("() => window.flashes")
    return seen


def test_values_are_written_for_people_and_exact_on_hover(
    gateway: LocalGateway, visiting: Visiting
) -> None:
    nothing: dict[str, Cell] = dict.fromkeys(LARGE) | {"ts": 0, "_partition": 0, "_offset": 0}
    gateway.place(KINDS, [nothing, LARGE])
    visitor = visiting(gateway, locale="en-GB", timezone_id="Asia/Kolkata")
    table = TableReader(visitor.open("/tables/kinds"), "kinds")
    table.shows("whole", "–", "9,223,372,036,854,775,807")
    empty, line = table.lines()
    assert [empty[name] for name in ("words", "real", "money", "member")] == ["–"] * 4
    assert re.fullmatch(r"x{300}…", line["words"])
    assert line["real"] == "0.3"
    assert line["money"] == "-123,456,789,012,345,678,901,234,567,890,123,456.78"
    assert line["member"] == "yes"
    assert "12:38:09.123" in line["ts"]
    assert "2019" in line["ts"]
    for column, exact in EXACT.items():
        cell = table.cell(2, column)
        cell.hover()
        expect(cell).to_have_attribute("title", exact)
    table.cell(1, "money").hover()
    expect(table.cell(1, "money")).to_have_attribute("title", "no value")


def test_only_the_cells_that_changed_light_up(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.shows("name", "Person 0", "Person 1")
    table.page.evaluate(WATCH_FLASHES)
    visitor.gateway.upsert("users_ui", [user(1, name="Mei"), user(3, age=99), user(50)])
    table.shows("name", "Person 0", "Mei")
    table.wait(lambda: table.cells("age")[3], lambda age: age == "99")
    table.wait(lambda: sorted(flashes(table.page)), lambda seen: seen == ["2 name", "4 age"])
    lit = table.grid.locator(".eg-flash")
    expect(lit).to_have_count(0)  # gently: it passes


def test_rows_that_only_move_do_not_light_up(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/users_ui?order=-age"), "users_ui")
    table.shows("age", "67", "66")
    table.page.evaluate(WATCH_FLASHES)
    visitor.gateway.upsert("users_ui", [user(50, age=99)])
    table.shows("age", "99", "67", "66")
    visitor.gateway.delete("users_ui", ["0:50"])
    table.shows("age", "67", "66")
    assert flashes(table.page) == []


def test_nothing_lights_up_for_those_who_want_less_motion(
    gateway: LocalGateway, visiting: Visiting
) -> None:
    visitor = visiting(gateway, reduced_motion="reduce")
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.shows("name", "Person 0")
    table.page.evaluate(WATCH_FLASHES)
    gateway.upsert("users_ui", [user(0, name="Mei")])
    table.shows("name", "Mei")
    gateway.upsert("users_ui", [user(1, name="Ada")])
    table.shows("name", "Mei", "Ada")
    assert flashes(table.page) == []
