"""Pages, for those who prefer them, and any row by its number."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.reader import NUMBER, TableReader, wait_for, words
from tests.browser.tables import user
from tests.browser.visitor import Visitor

MANY = 1000


@pytest.fixture
def table(visitor: Visitor) -> TableReader:
    visitor.gateway.upsert("users_ui", [user(offset) for offset in range(50, MANY)])
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.starts_at(1)
    return table


def button(table: TableReader, name: str) -> Locator:
    return table.pager.get_by_role("button", name=name, exact=True)


def test_pages_of_300_from_the_first_to_the_last(table: TableReader) -> None:
    button(table, "Pages").click()
    table.says("rows 1–300 of 1,000")
    expect(button(table, "First page")).to_be_disabled()
    expect(button(table, "Previous page")).to_be_disabled()
    button(table, "Next page").click()
    table.says("rows 301–600 of 1,000")
    table.shows(NUMBER, "301", "302")
    table.shows("name", "Person 300", "Person 301")
    button(table, "Last page").click()
    table.says("rows 901–1,000 of 1,000")
    table.ends_at(MANY)
    expect(button(table, "Next page")).to_be_disabled()
    expect(button(table, "Last page")).to_be_disabled()
    button(table, "Previous page").click()
    table.says("rows 601–900 of 1,000")
    button(table, "First page").click()
    table.says("rows 1–300 of 1,000")
    table.shows("name", "Person 0")


def test_the_size_of_a_page_is_chosen_and_kept_in_the_address(table: TableReader) -> None:
    button(table, "Pages").click()
    table.pager.get_by_label("Rows a page").select_option("50")
    table.says("rows 1–50 of 1,000")
    button(table, "Next page").click()
    table.says("rows 51–100 of 1,000")
    wanted = {"page": "50", "row": "51"}
    wait_for(table.page, lambda: words(table.page), lambda said: said == wanted)
    table.page.reload()
    table.says("rows 51–100 of 1,000")
    button(table, "Scroll").click()
    expect(button(table, "Next page")).to_have_count(0)
    table.starts_at(51)


def test_a_row_is_gone_to_by_its_number(table: TableReader) -> None:
    table.go_to(700)
    table.starts_at(700)
    table.shows("name", "Person 699", "Person 700")
    table.go_to(999_999)
    table.ends_at(MANY)
    button(table, "Pages").click()
    table.go_to(450)
    table.says("rows 301–600 of 1,000")
    expect(table.cell(450, "name")).to_be_in_viewport()


def test_a_page_is_as_live_as_everything_else(visitor: Visitor, table: TableReader) -> None:
    button(table, "Pages").click()
    table.go_to(901)
    table.shows("name", "Person 900")
    visitor.gateway.upsert("users_ui", [user(900, name="Mei"), user(MANY)])
    table.shows("name", "Mei", "Person 901")
    table.says("rows 901–1,001 of 1,001")
    visitor.gateway.delete("users_ui", [f"0:{offset}" for offset in range(600, MANY + 1)])
    table.says("rows 301–600 of 600")


def test_refresh_asks_anew_and_stays_where_one_is(visitor: Visitor, table: TableReader) -> None:
    table.go_to(500)
    table.starts_at(500)
    button(table, "Refresh").click()
    visitor.gateway.upsert("users_ui", [user(499, name="Mei")])
    table.shows("name", "Mei", "Person 500")
    table.is_live()
    assert len(visitor.sockets) == 1
