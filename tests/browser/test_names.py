"""Screen readers hear a name for everything that can be worked, and how the page is built."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reader import TableReader
from tests.browser.tables import place_all, place_story
from tests.browser.visitor import Visitor

WORKED = (
    *("button", "link", "textbox", "searchbox", "spinbutton", "checkbox", "radio", "combobox"),
    *("listbox", "slider", "switch", "tab", "menuitem", "progressbar", "grid", "columnheader"),
    *("dialog", "navigation", "region", "form", "img", "heading"),
)
NAMELESS = re.compile(rf"^\s*- (?:{'|'.join(WORKED)})(?::| \[|$)")


def nameless(page: Page) -> list[str]:
    """What a screen reader would call a mere button, as the browser reckons names."""
    tree = page.locator("body").aria_snapshot()
    assert tree.count("\n") > 3
    return [line.strip() for line in tree.splitlines() if NAMELESS.match(line)]


def test_nameless_things_would_be_found(visitor: Visitor) -> None:
    page = visitor.open(key="")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    page.evaluate("() => document.body.append(document.createElement('button'))")
    assert nameless(page) == ["- button"]


@pytest.mark.parametrize("path", ["/", "/tables/final_ui", "/quarantine", "/status"])
def test_a_page_has_names_a_title_and_one_heading(visitor: Visitor, path: str) -> None:
    page = visitor.open(path)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_count(1)
    expect(page.get_by_role("main").get_by_role("region").first).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages").get_by_role("link")).to_have_count(6)
    assert nameless(page) == []
    assert page.title() == f"{heading.inner_text()} – Evergrid"
    assert page.locator("html").get_attribute("lang") == "en"
    current = page.get_by_role("navigation", name="Pages").locator("[aria-current=page]")
    expect(current).to_have_count(1)


def test_the_form_the_lists_and_the_notice_have_names(visitor: Visitor) -> None:
    place_story(place_all(visitor.gateway))
    page = visitor.open("/status", visitor.gateway.secrets["ops"])
    expect(page.get_by_role("group", name="Join type of final")).to_be_visible()
    lists = page.get_by_role("main").get_by_role("list")
    expect(lists.and_(page.get_by_label("Control messages"))).to_have_count(1)
    expect(lists.and_(page.get_by_label("Generations"))).to_have_count(1)
    expect(page.get_by_text("A new pipeline is being prepared").first).to_be_visible()
    assert nameless(page) == []


def test_what_opens_has_names_too(visitor: Visitor) -> None:
    page = visitor.open("/tables/final_ui?filter=[]&page=50")
    table = TableReader(page, "final_ui")
    table.shows("name", "Person 0")
    for menu in ("Filter", "Columns", "Export"):
        table.press(menu)
        expect(table.dialog).to_be_visible()
        assert nameless(page) == []
        page.keyboard.press("Escape")
        expect(table.dialog).to_have_count(0)
    table.filter("age", "between", "20", "30")
    table.shows("age", "20")
    table.cell(1, "#").click()
    expect(page.get_by_role("dialog", name="Row of final_ui")).to_contain_text("Made from")
    assert nameless(page) == []


def test_a_grid_tells_how_large_it_is_and_where_one_is(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/final_ui"), "final_ui")
    table.shows("name", "Person 0")
    assert int(table.grid.get_attribute("aria-rowcount") or 0) == 51  # with the headers
    expect(table.grid.get_by_role("row").nth(1)).to_have_attribute("aria-rowindex", "2")


def test_a_change_of_state_is_said_aloud(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/final_ui"), "final_ui")
    expect(table.status).to_have_attribute("aria-live", "polite")
    expect(table.status).to_have_text("Live")
