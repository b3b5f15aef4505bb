"""Each column has a filter that fits its type; the gateway does the work."""

from __future__ import annotations

import datetime

import pytest
from playwright.sync_api import expect

from tests.browser.reader import TableReader
from tests.browser.tables import START, account
from tests.browser.visitor import Visitor
from tests.support.local_engine import Cell

ROWS: list[dict[str, Cell]] = [
    {"userId": "Ann", "accountType": "savings", "balance": "12.50", "ts": START},
    {"userId": "bob", "accountType": "current", "balance": "-3.00", "ts": START + 1_000_000},
    {
        "userId": "Łuc",
        "accountType": None,
        "balance": "9007199254740993.01",
        "ts": START + 2_000_000,
    },
    {"userId": "Dan", "accountType": "savings", "balance": None, "ts": START + 3_000_000},
]


@pytest.fixture
def table(visitor: Visitor) -> TableReader:
    visitor.gateway.delete("accounts_ui", [f"0:{offset}" for offset in range(50)])
    visitor.gateway.upsert("accounts_ui", [account(n, **row) for n, row in enumerate(ROWS)])
    table = TableReader(visitor.open("/tables/accounts_ui"), "accounts_ui")
    table.shows_only("userId", "Ann", "bob", "Łuc", "Dan")
    return table


def local(micros: int) -> str:
    """As a field for day and time wants it; the browser is where the test is."""
    return datetime.datetime.fromtimestamp(micros / 1e6).isoformat(timespec="milliseconds")


WISHES = [
    ("userId", "contains", ("B",), ("bob",)),
    ("userId", "is", ("ŁUC",), ("Łuc",)),
    ("userId", "starts with", ("da",), ("Dan",)),
    ("accountType", "is not", ("savings",), ("bob", "Łuc")),
    ("accountType", "is empty", (), ("Łuc",)),
    ("accountType", "is not empty", (), ("Ann", "bob", "Dan")),
    ("balance", "is", ("9007199254740993.01",), ("Łuc",)),
    ("balance", "less than", ("12.50",), ("bob",)),
    ("balance", "at most", ("12.5",), ("Ann", "bob")),
    ("balance", "between", ("-3", "13"), ("Ann", "bob")),
    ("balance", "is empty", (), ("Dan",)),
    ("ts", "since", (local(START + 1_500_000),), ("Łuc", "Dan")),
    ("ts", "before", (local(START + 500_000),), ("Ann",)),
    ("ts", "between", (local(START + 500_000), local(START + 2_500_000)), ("bob", "Łuc")),
]


def test_every_type_has_operators_that_find_what_they_say(table: TableReader) -> None:
    for column, operator, values, found in WISHES:
        table.filter(column, operator, *values)
        table.shows_only("userId", *found)
        table.says(f"rows 1–{len(found)} of {len(found)}")
        table.region.get_by_role("button", name="Remove the filter").click()
        table.shows_only("userId", "Ann", "bob", "Łuc", "Dan")


def test_an_integer_and_one_of_several(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.filter("age", "greater than", "65")
    table.shows_only("age", "66", "67")
    table.open_filter("age")
    table.dialog.get_by_label("Rows whose value").select_option(label="is one of")
    table.dialog.get_by_label("One value on each line").fill("20\n\n30\n")
    table.dialog.get_by_role("button", name="Apply").click()
    table.shows_only("age", "20", "30")
    assert table.chips() == ["age is one of 20, 30"]


def test_filters_of_several_columns_hold_together(table: TableReader) -> None:
    table.filter("accountType", "is", "savings")
    table.shows_only("userId", "Ann", "Dan")
    table.press("Filter")
    table.dialog.get_by_role("combobox", name="Column", exact=True).select_option("balance")
    table.fill("at least", "1")
    table.shows_only("userId", "Ann")
    table.wait(table.chips, lambda chips: chips[:2] == CHIPS)
    table.press("Clear all")
    table.shows_only("userId", "Ann", "bob", "Łuc", "Dan")


CHIPS = ["accountType is “savings”", "balance at least 1"]


def test_a_filter_is_changed_where_it_stands(table: TableReader) -> None:
    table.filter("balance", "less than", "10")
    table.shows_only("userId", "bob")
    table.press("balance less than 10")
    expect(table.dialog.get_by_label("Value", exact=True)).to_have_value("10")
    table.fill("greater than", "10")
    table.shows_only("userId", "Ann", "Łuc")
    table.press("balance greater than 10")
    table.dialog.get_by_role("button", name="Remove").click()
    table.shows_only("userId", "Ann", "bob", "Łuc", "Dan")


def test_what_makes_no_sense_is_said_beside_its_field(table: TableReader) -> None:
    table.open_filter("balance")
    table.fill("is", "twelve")
    expect(table.dialog.get_by_role("alert")).to_have_text(
        "Enter a number with a decimal point, like 12.50."
    )
    expect(table.dialog.get_by_label("Value", exact=True)).to_have_attribute("aria-invalid", "true")
    table.page.keyboard.press("Escape")
    expect(table.dialog).to_have_count(0)
    table.shows_only("userId", "Ann", "bob", "Łuc", "Dan")


def test_rows_come_and_go_as_they_begin_and_cease_to_fit(
    visitor: Visitor, table: TableReader
) -> None:
    table.filter("balance", "greater than", "10")
    table.shows_only("userId", "Ann", "Łuc")
    visitor.gateway.upsert("accounts_ui", [account(1, userId="bob", balance="11.00")])
    table.wait(lambda: sorted(table.cells("userId")), lambda seen: seen == ["Ann", "bob", "Łuc"])
    visitor.gateway.upsert("accounts_ui", [account(1, userId="bob", balance="9.00")])
    table.shows_only("userId", "Ann", "Łuc")


def test_where_nothing_fits_a_sentence_and_a_way_out(table: TableReader) -> None:
    table.filter("userId", "is", "nobody")
    expect(
        table.region.get_by_text("No row matches this search and these filters.")
    ).to_be_visible()
    table.press("Clear search and filters")
    table.shows_only("userId", "Ann", "bob", "Łuc", "Dan")
