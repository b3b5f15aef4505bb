"""A row's details: its values, exact, and which messages it came from."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.reader import TableReader, words
from tests.browser.tables import final, user
from tests.browser.visitor import Visitor


def details(page: Page, name: str = "Row of final_ui") -> Locator:
    return page.get_by_role("dialog", name=name)


@pytest.fixture
def table(visitor: Visitor) -> TableReader:
    table = TableReader(visitor.open("/tables/final_ui"), "final_ui")
    table.shows("name", "Person 0", "Person 1")
    return table


def origin(page: Page, source: str) -> Locator:
    return (
        details(page)
        .get_by_role("article")
        .filter(has=page.get_by_role("heading", name=source, exact=True))
    )


def test_a_joined_row_names_both_messages_and_shows_them(table: TableReader) -> None:
    table.cell(4, "#").click()
    card = origin(table.page, "users")
    expect(card).to_contain_text(re.compile(r"topic users\s*partition 0\s*offset 3"))
    expect(card).to_contain_text("person3@example.com")
    card = origin(table.page, "accounts")
    expect(card).to_contain_text(re.compile(r"topic accounts\s*partition 0\s*offset 3"))
    expect(card).to_contain_text("savings")
    card.get_by_role("link", name="See it in accounts_ui").click()
    accounts = TableReader(table.page, "accounts_ui")
    accounts.shows_only("userId", "U3")
    assert accounts.chips()[:2] == ["_partition is 0", "_offset is 3"]


def test_a_row_without_a_match_says_so(visitor: Visitor, table: TableReader) -> None:
    alone = {name: None for name in final(0) if name.startswith("_accounts_")}
    visitor.gateway.upsert(
        "final_ui",
        [final(50, accounts_userId=None, accountType=None, balance=None, **alone)],
    )
    table.follow.click()
    table.wait(lambda: table.cells("balance")[-1], lambda text: text == "–")
    table.cell(51, "name").dblclick()
    sentence = "No message of accounts matches"
    expect(origin(table.page, "accounts")).to_contain_text(sentence)


def test_details_are_as_live_as_the_table(visitor: Visitor, table: TableReader) -> None:
    table.cell(2, "#").click()
    expect(details(table.page)).to_contain_text("person1@example.com")
    visitor.gateway.upsert("final_ui", [final(1, email="mei@example.com")])
    expect(details(table.page).get_by_text("mei@example.com")).to_be_visible()
    visitor.gateway.delete("final_ui", ["0:1"])
    left = "This row is no longer in final_ui. Below is how it last was."
    expect(details(table.page).get_by_text(left)).to_be_visible()
    expect(details(table.page).get_by_text("mei@example.com")).to_be_visible()


def test_a_message_of_a_source_leads_to_the_rows_made_of_it(visitor: Visitor) -> None:
    visitor.gateway.upsert("users_ui", [user(5, age=None)])
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.shows("name", "Person 0")
    table.cell(6, "#").click()
    row = details(table.page, "Row of users_ui")
    expect(row).to_contain_text("Topic users")
    expect(row).to_contain_text("no value")
    row.get_by_role("link", name="Rows of final_ui made from it").click()
    TableReader(table.page, "final_ui").shows_only("name", "Person 5")


def test_they_are_closed_by_a_button_by_escape_and_by_going_back(table: TableReader) -> None:
    page = table.page
    table.cell(2, "#").click()
    details(page).get_by_role("button", name="Close the details").click()
    expect(details(page)).to_have_count(0)
    assert "open" not in words(page)
    table.cell(3, "#").click()
    expect(details(page)).to_contain_text("Person 2")
    page.keyboard.press("Escape")
    expect(details(page)).to_have_count(0)
    table.cell(4, "#").click()
    expect(details(page)).to_contain_text("Person 3")
    table.cell(5, "#").click()
    expect(details(page)).to_contain_text("Person 4")
    page.go_back()
    expect(details(page)).to_have_count(0)
    table.shows("name", "Person 0")
