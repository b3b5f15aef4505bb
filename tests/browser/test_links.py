"""An address shows the same to everybody: table, filter, order, position, an opened row."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader, wait_for, words
from tests.browser.tables import final
from tests.browser.visitor import Visitor
from tests.support.local_gateway import LocalGateway


@pytest.fixture
def gateway(gateway: LocalGateway) -> LocalGateway:
    gateway.upsert("final_ui", [final(offset) for offset in range(50, 400)])
    return gateway


def copied(visitor: Visitor, *wanted: str) -> str:
    """What is in the address line, once these words are; without the host."""
    wait_for(visitor.page, lambda: words(visitor.page), lambda said: set(said) == set(wanted))
    return visitor.page.url.removeprefix(visitor.address)


def test_a_copied_address_shows_the_same_rows_elsewhere(
    visitor: Visitor, visiting: Visiting
) -> None:
    table = TableReader(visitor.open("/tables/final_ui"), "final_ui")
    table.filter("accountType", "is", "savings")
    table.filter("age", "between", "20", "60")
    table.sort("balance")
    table.sort("balance")
    table.search.fill("person")
    table.wait(lambda: table.pager.inner_text(), lambda said: "of 400" not in said)
    table.shows("balance", "3,990.50")
    table.go_to(100)
    table.starts_at(100)
    link = copied(visitor, "search", "filter", "order", "row")
    other = TableReader(visiting(visitor.gateway).open(link), "final_ui")
    other.starts_at(100)
    other.wait(other.lines, lambda lines: lines == table.lines())
    assert other.chips()[:2] == table.chips()[:2]
    expect(other.search).to_have_value("person")
    expect(other.header("balance")).to_have_attribute("aria-sort", "descending")


def test_a_link_without_a_key_leads_there_after_the_log_in(visitor: Visitor) -> None:
    link = "/tables/final_ui?order=-balance&row=51&open=final_ui:0:7"
    page = visitor.open(link, key="")
    page.get_by_label("Key", exact=True).fill(visitor.secret)
    page.get_by_role("button", name="Log in").click()
    TableReader(page, "final_ui").starts_at(51)
    expect(page.get_by_role("dialog", name="Row of final_ui")).to_contain_text("Person 7")
    assert page.url == visitor.address + link


def test_each_table_of_the_dashboard_has_words_of_its_own(
    visitor: Visitor, visiting: Visiting
) -> None:
    page = visitor.open()
    users, joined = (TableReader(page, name) for name in ("users_ui", "final_ui"))
    users.search.fill("U7")
    users.shows_only("name", "Person 7")
    joined.sort("balance")
    joined.shows("balance", "0.50")
    link = copied(visitor, "users_ui.search", "final_ui.order", "final_ui.follow")
    page = visiting(visitor.gateway).open(link)
    TableReader(page, "users_ui").shows_only("name", "Person 7")
    TableReader(page, "final_ui").shows("balance", "0.50", "10.50")


def test_back_and_forth_between_tables(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/final_ui?search=U77"), "final_ui")
    table.shows_only("name", "Person 77")
    page = table.page
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="users_ui").click()
    users = TableReader(page, "users_ui")
    users.shows("name", "Person 0")
    expect(users.search).to_have_value("")
    page.go_back()
    table.shows_only("name", "Person 77")
    expect(table.search).to_have_value("U77")


def test_a_link_that_was_cut_is_said_to_be(visitor: Visitor) -> None:
    page = visitor.open('/tables/final_ui?order=-balance&filter=[{"column":"age"')
    sentence = "Invalid parameters of this link were ignored: filter."
    expect(page.get_by_text(sentence)).to_be_visible()
    TableReader(page, "final_ui").shows("balance", "3,990.50")


def test_what_names_a_column_that_there_is_not_is_left_out_and_said(visitor: Visitor) -> None:
    page = visitor.open("/tables/final_ui?order=-balance,colour")
    table = TableReader(page, "final_ui")
    sentence = "This table has no column colour now. Removed: order by colour."
    expect(table.region.get_by_text(sentence)).to_be_visible()
    table.shows("balance", "3,990.50", "3,980.50")
    wait_for(page, lambda: words(page).get("order"), lambda order: order == "-balance")


def test_what_the_gateway_refuses_is_said_and_a_way_out_offered(visitor: Visitor) -> None:
    filters = '[{"column":"ts","op":"less","value":"2026-01-01T00:00:00"}]'
    table = TableReader(visitor.open(f"/tables/final_ui?filter={filters}"), "final_ui")
    expect(table.status).to_have_text("Not understood")
    expect(table.region.get_by_text("a time with its zone")).to_be_visible()
    table.press("Clear search, filters and order")
    table.shows("name", "Person 0")


def test_an_address_that_no_page_has(visitor: Visitor) -> None:
    page = visitor.open("/no/such/page")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    page.get_by_role("link", name="Go to the dashboard").click()
    TableReader(page, "users_ui").is_live()
