"""Another generation under open tables: columns come and go, and what people made of them stays."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest
from playwright.sync_api import expect

from evergrid.model.control_request import Verdict
from evergrid.model.field_types import TEXT
from evergrid.model.generation import State
from evergrid.model.table import Column, Table
from tests.browser.reader import TableReader, overhear, wait_for, words
from tests.browser.tables import ACCOUNTS, FINAL, USERS, Cells, account, final, place_all, user
from tests.browser.test_columns import has
from tests.browser.visitor import Visitor
from tests.support.local_gateway import LocalGateway
from tests.support.pauses import Pauses

ADAPTING_SECONDS = 1.5  # who waits for two is told what the gateway said
COUNTRY = Column("country", TEXT)
GONE = (
    "This table has no column email now. Removed: email contains “example”; "
    "order by email, descending."
)
FILTERS = [
    {"column": "email", "op": "contains", "value": "example"},
    {"column": "age", "op": "greater", "value": 40},
]
LINK = f"/tables/users_ui?order=-email,age&filter={json.dumps(FILTERS)}"


def without_email(table: Table) -> Table:
    """The same table of another topic: no email, but a country after the name."""
    columns = [column for column in table.columns if column.name != "email"]
    columns.insert(2, COUNTRY)
    return msgspec.structs.replace(table, columns=tuple(columns))


def moved(rows: Sequence[Cells], country: str = "Japan") -> list[Cells]:
    return [
        {name: cell for name, cell in row.items() if name != "email"} | {"country": country}
        for row in rows
    ]


def place_other(gateway: LocalGateway, generation: int = 2, country: str = "Japan") -> None:
    users = moved([user(offset) for offset in range(60)], country)
    gateway.place(without_email(USERS), users, generation)


def place_first(gateway: LocalGateway, generation: int = 1) -> None:
    gateway.place(USERS, [user(offset) for offset in range(50)], generation)


@pytest.fixture
def table(visitor: Visitor) -> TableReader:
    """Ordered and filtered, with a pinned column, a hidden one and one that was moved."""
    table = TableReader(visitor.open(LINK), "users_ui")
    table.shows("age", "67", "66", "65")
    table.press("Columns")
    table.dialog.get_by_role("button", name="Pin age left").click()
    table.dialog.get_by_role("checkbox", name="userId", exact=True).click()
    table.page.keyboard.press("Escape")
    has(table, "#", "age", "name", "email", "ts")
    table.page.evaluate(
        """() => {
          window.seen = new Set();
          const note = () => document.querySelectorAll('.eg-status, .eg-overlay')
            .forEach((one) => window.seen.add(one.innerText.trim()));
          new MutationObserver(note).observe(document.body,
            { subtree: true, childList: true, characterData: true });
        }"""
    )
    return table


def seen(table: TableReader) -> set[str]:
    """Every word that the status and the overlay have said since."""
    return set(table.page.evaluate("() => [...window.seen]"))


def test_columns_come_and_go_under_filter_order_and_pins(
    visitor: Visitor, table: TableReader
) -> None:
    with Pauses() as pauses:
        place_other(visitor.gateway)
        has(table, "#", "age", "name", "country", "ts")
        expect(table.region.get_by_text(GONE)).to_be_visible()
    assert table.chips() == ["age greater than 40"]
    table.shows("age", "41", "42", "43")
    table.shows("country", "Japan")
    table.is_live()
    kept = json.dumps([FILTERS[1]], separators=(",", ":"))
    wait_for(
        table.page,
        lambda: [words(table.page).get(name) for name in ("order", "filter")],
        lambda said: said == ["age", kept],
    )
    said = {word.split(" ")[0] for word in seen(table)}
    assert said <= {"Live", "Loading"} or pauses.longest > ADAPTING_SECONDS, said
    assert len(visitor.sockets) == 1


def test_a_lower_generation_brings_a_column_back_but_not_what_was_asked_of_it(
    visitor: Visitor, table: TableReader
) -> None:
    place_other(visitor.gateway)
    expect(table.region.get_by_text(GONE)).to_be_visible()
    place_first(visitor.gateway)
    has(table, "#", "age", "name", "email", "ts")
    table.shows("age", "41", "42", "43")
    assert table.chips() == ["age greater than 40"]
    offer = "Available again: email contains “example”; order by email, descending."
    expect(table.region.get_by_text(offer)).to_be_visible()
    table.press("Restore")
    wait_for(table.page, table.chips, lambda chips: len(chips) == 3)  # with Clear all
    expect(table.region.get_by_text(offer)).to_have_count(0)
    table.is_live()


def test_a_notice_can_be_dismissed_and_the_page_reloaded(
    visitor: Visitor, table: TableReader
) -> None:
    place_other(visitor.gateway)
    expect(table.region.get_by_text(GONE)).to_be_visible()
    table.press("Dismiss")
    expect(table.region.get_by_text(GONE)).to_have_count(0)
    wait_for(table.page, lambda: words(table.page).get("order"), lambda order: order == "age")
    table.page.reload()
    has(table, "#", "age", "name", "country", "ts")
    expect(table.region.get_by_text("This table has no column")).to_have_count(0)


def test_the_whole_page_follows_a_switch(visitor: Visitor) -> None:
    gateway = visitor.gateway
    pipeline = place_all(gateway)
    page = visitor.open()
    tables = {name: TableReader(page, name) for name in ("users_ui", "accounts_ui", "final_ui")}
    tables["users_ui"].ends_at(50)
    page.evaluate("() => { window.same = true }")
    pipeline.put(2, State.PREPARING, {"usersTopic": "users_v2", "joinType": "inner"})
    expect(page.get_by_text("A new pipeline is being prepared.").first).to_be_visible()
    gateway.place(ACCOUNTS, [account(offset) for offset in range(60)], 2)
    place_other(gateway)
    gateway.place(without_email(FINAL), moved([final(offset) for offset in range(60)]), 2)
    heard = overhear(page)
    pipeline.switch(2)
    pipeline.judge(0, {"joinType": "inner"}, Verdict.APPLIED, generation=2)
    for name, table in tables.items():
        table.ends_at(60)
        table.is_live()
        assert ("country" in table.columns()) == (name != "accounts_ui")
    heard("The new pipeline is live")
    pipeline.switch(1)
    place_all(gateway)
    for table in tables.values():
        table.ends_at(50)
        table.is_live()
        assert "country" not in table.columns()
    assert page.evaluate("() => window.same") is True, "the page was loaded anew"
    assert len(visitor.sockets) == 1


def test_the_details_of_a_row_do_not_become_those_of_another(visitor: Visitor) -> None:
    gateway = visitor.gateway
    page = visitor.open("/tables/users_ui")
    table = TableReader(page, "users_ui")
    table.shows("name", "Person 0")
    table.cell(8, "#").click()
    details = page.get_by_role("dialog", name="Row of users_ui")
    expect(details).to_contain_text("person7@example.com")
    other = [user(offset, name=f"Other {offset}", ts=offset) for offset in range(50)]
    gateway.place(USERS, other, 2)
    table.shows("name", "Other 0")
    expect(details).to_contain_text("has this id now")
    expect(details).to_contain_text("person7@example.com")
    expect(details).not_to_contain_text("Other 7")
    # The same messages in yet another generation: then it is the same row.
    place_first(gateway, 3)
    expect(details).not_to_contain_text("has this id now")
    expect(details).to_contain_text("Person 7")
