"""Everything can be done without a mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.reader import TableReader
from tests.browser.visitor import Visitor

MANY = 40  # keys that one might press; a table's cells are far more

FOCUSED = """
() => {
  const one = document.activeElement;
  return `${one.role ?? one.localName} ${one.ariaLabel ?? one.innerText}`;
}
"""


@pytest.fixture
def table(visitor: Visitor) -> TableReader:
    table = TableReader(visitor.open("/tables/final_ui"), "final_ui")
    table.shows("name", "Person 0")
    return table


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until it has the focus, as often as it takes."""
    seen = []
    for _ in range(MANY):
        page.keyboard.press("Tab")
        if target.evaluate("(one) => one === document.activeElement"):
            return
        seen.append(page.evaluate(FOCUSED))
    raise AssertionError(f"Tab never came there, only to {seen}")


def test_the_first_key_leads_past_the_menu(table: TableReader) -> None:
    page = table.page
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(table.search).to_be_focused()


def test_a_row_is_found_opened_and_left_again(table: TableReader) -> None:
    page = table.page
    tab_to(page, table.search)
    page.keyboard.type("person 1")
    page.keyboard.press("Enter")
    table.shows("name", "Person 1", "Person 10")
    tab_to(page, table.header("#"))
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    cell = table.cell(2, "name")
    expect(cell).to_be_focused()
    page.keyboard.press("Enter")
    details = page.get_by_role("dialog", name="Row of final_ui")
    expect(details).to_contain_text("Person 10")
    expect(details.locator(":focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(details).to_have_count(0)
    expect(cell).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(table.cell(3, "name")).to_be_focused()


def test_headers_order_and_filter(table: TableReader) -> None:
    page = table.page
    tab_to(page, table.header("#"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(table.header("name")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    table.shows("name", "Person 9", "Person 8")
    expect(table.header("name")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(table.dialog.get_by_label("Value", exact=True)).to_be_focused()
    page.keyboard.type("son 4")
    page.keyboard.press("Enter")
    table.shows("name", "Person 49", "Person 48")
    expect(table.header("name")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(table.dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(table.dialog).to_have_count(0)
    table.shows("name", "Person 49", "Person 48")


def test_menus_are_opened_worked_and_closed(table: TableReader) -> None:
    page = table.page
    button = table.region.get_by_role("button", name="Columns", exact=True)
    tab_to(page, button)
    page.keyboard.press("Enter")
    expect(table.dialog.locator(":focus")).to_have_count(1)
    tab_to(page, table.dialog.get_by_role("checkbox", name="email", exact=True))
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    table.wait(table.columns, lambda seen: "email" not in seen)
    expect(button).to_be_focused()


def test_tab_leads_past_the_cells_however_many_there_are(table: TableReader) -> None:
    page = table.page
    tab_to(page, table.header("#"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(table.cell(2, "#")).to_be_focused()
    tab_to(page, table.pager.get_by_label("Go to row"))
    page.keyboard.type("40")
    page.keyboard.press("Enter")
    table.ends_at(50)


def test_pages_are_gone_to_and_read_from_their_heading(table: TableReader) -> None:
    page = table.page
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Quarantine")
    tab_to(page, link)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Quarantine", level=1)).to_be_focused()
    expect(page).to_have_title("Quarantine – Evergrid")
