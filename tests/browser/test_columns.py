"""Columns are chosen, moved, sized and pinned, and the browser remembers how."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader
from tests.browser.visitor import Visitor

AT_FIRST = ["#", "userId", "name", "email", "age", "ts"]


@pytest.fixture
def table(visitor: Visitor) -> TableReader:
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.shows("name", "Person 0")
    assert table.columns() == AT_FIRST
    return table


def has(table: TableReader, *columns: str) -> None:
    table.wait(table.columns, lambda seen: seen == list(columns))


def drag(table: TableReader, what: Locator, along: Locator, share: float) -> None:
    """Take hold of something in its middle and move it to a share of another's width."""
    start, end = what.bounding_box(), along.bounding_box()
    assert start is not None
    assert end is not None
    mouse = table.page.mouse
    mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    mouse.down()
    mouse.move(end["x"] + end["width"] * share, end["y"] + end["height"] / 2, steps=12)
    mouse.up()


def width(header: Locator) -> int:
    box = header.bounding_box()
    assert box is not None
    return round(box["width"])


def test_the_panel_chooses_pins_and_moves_and_it_stays_so(
    visitor: Visitor, visiting: Visiting, table: TableReader
) -> None:
    table.press("Columns")
    for name in ("email", "_offset"):
        table.dialog.get_by_role("checkbox", name=name, exact=True).click()
    table.dialog.get_by_role("button", name="Pin age left").click()
    table.dialog.get_by_role("button", name="Move name towards the left").click()
    table.page.keyboard.press("Escape")
    has(table, "#", "age", "name", "userId", "ts", "_offset")
    table.page.reload()
    has(table, "#", "age", "name", "userId", "ts", "_offset")
    table.shows("_offset", "0", "1", "2")

    other = TableReader(visiting(visitor.gateway).open("/tables/users_ui"), "users_ui")
    has(other, *AT_FIRST)
    table.press("Columns")
    table.dialog.get_by_role("button", name="Reset columns").click()
    has(table, *AT_FIRST)
    table.page.reload()
    has(table, *AT_FIRST)


def test_a_header_is_dragged_to_another_place(table: TableReader) -> None:
    drag(table, table.header("age").get_by_text("age"), table.header("userId"), 0.2)
    has(table, "#", "age", "userId", "name", "email", "ts")
    table.page.reload()
    has(table, "#", "age", "userId", "name", "email", "ts")


def test_an_edge_is_dragged_to_another_width(table: TableReader) -> None:
    header = table.header("name")
    before = width(header)
    edge = header.locator("[data-ref=eResize]")  # AG Grid's own; it has no name for people
    drag(table, edge, table.header("email"), 0.5)
    table.wait(lambda: width(header), lambda now: now > before + 30)
    after = width(header)
    table.page.reload()
    table.shows("name", "Person 0")
    assert width(table.header("name")) == after


def test_a_column_that_is_not_shown_can_still_be_filtered_by(table: TableReader) -> None:
    table.press("Filter")
    table.dialog.get_by_role("combobox", name="Column", exact=True).select_option("_offset")
    table.fill("is", "7")
    table.shows_only("name", "Person 7")
    expect(table.header("_offset")).to_have_count(0)
