"""Headers order the table, and the gateway does the work."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.reader import TableReader, wait_for, words
from tests.browser.tables import user
from tests.browser.visitor import Visitor


def people(visitor: Visitor) -> TableReader:
    """Eve has no age; two are thirty."""
    rows = [("Ann", 30), ("Bob", 25), ("Cid", 30), ("Dan", 41), ("Eve", None)]
    visitor.gateway.delete("users_ui", [f"0:{offset}" for offset in range(50)])
    visitor.gateway.upsert(
        "users_ui", [user(n, name=name, age=age) for n, (name, age) in enumerate(rows)]
    )
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.shows_only("name", "Ann", "Bob", "Cid", "Dan", "Eve")
    return table


def test_a_click_orders_up_another_down_a_third_no_more(visitor: Visitor) -> None:
    table = people(visitor)
    table.sort("age")
    table.shows_only("age", "25", "30", "30", "41", "–")
    expect(table.header("age")).to_have_attribute("aria-sort", "ascending")
    table.sort("age")
    table.shows_only("age", "41", "30", "30", "25", "–")
    expect(table.header("age")).to_have_attribute("aria-sort", "descending")
    table.sort("age")
    table.shows_only("name", "Ann", "Bob", "Cid", "Dan", "Eve")
    expect(table.header("age")).to_have_attribute("aria-sort", "none")


def test_with_shift_columns_order_together(visitor: Visitor) -> None:
    table = people(visitor)
    table.sort("age")
    table.sort("name", more=True)
    table.sort("name", more=True)
    table.shows_only("name", "Bob", "Cid", "Ann", "Dan", "Eve")
    expect(table.header("age")).to_contain_text("1")
    expect(table.header("name")).to_contain_text("2")
    wait_for(table.page, lambda: words(table.page).get("order"), lambda is_: is_ == "age,-name")
    table.sort("name")
    table.shows_only("name", "Ann", "Bob", "Cid", "Dan", "Eve")


def test_a_row_that_changes_goes_where_it_belongs(visitor: Visitor) -> None:
    table = people(visitor)
    table.sort("age")
    table.shows_only("name", "Bob", "Ann", "Cid", "Dan", "Eve")
    visitor.gateway.upsert("users_ui", [user(1, name="Bob", age=99)])
    table.shows_only("name", "Ann", "Cid", "Dan", "Bob", "Eve")
    visitor.gateway.delete("users_ui", ["0:0"])
    table.shows_only("name", "Cid", "Dan", "Bob", "Eve")
