"""On a phone nothing sticks out, and everything can be reached with a thumb."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader
from tests.browser.tables import place_all, place_story, user
from tests.browser.visitor import Visitor
from tests.support.local_gateway import LocalGateway

WIDTH = 360

STICKS_OUT = """
() => {
  const room = document.documentElement.clientWidth;
  scrollTo(1000, 0);
  return scrollX === 0 && document.documentElement.scrollWidth <= room ? '' :
    `${document.documentElement.scrollWidth} of ${room} pixels`;
}
"""


@pytest.fixture
def phone(gateway: LocalGateway, visiting: Visiting) -> Visitor:
    size = {"width": WIDTH, "height": 740}
    return visiting(gateway, viewport=size, is_mobile=True, has_touch=True, device_scale_factor=2)


def fits(page: Page) -> None:
    assert page.evaluate("() => innerWidth") == WIDTH
    assert page.evaluate(STICKS_OUT) == ""


@pytest.mark.parametrize("path", ["/", "/tables/final_ui", "/quarantine", "/status", "/absent"])
def test_no_page_is_wider_than_the_screen(phone: Visitor, path: str) -> None:
    page = phone.open(path)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_text("Connected", exact=False).first).to_be_attached()
    fits(page)


def test_the_pipeline_is_changed_by_taps(phone: Visitor) -> None:
    place_story(place_all(phone.gateway))
    page = phone.open("/status", phone.gateway.secrets["ops"])
    page.get_by_label("Topic of accounts").select_option("accounts_v2")
    page.get_by_role("radio", name="inner").tap()
    fits(page)
    page.get_by_role("button", name="Switch to accounts_v2, inner join").tap()
    expect(page.get_by_text("Sent. The pipeline")).to_be_visible()
    page.get_by_role("button", name="Show 3 more").tap()
    fits(page)
    page.get_by_role("button", name="Menu").tap()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="final_ui").tap()
    expect(page.get_by_text("A new pipeline is being prepared").first).to_be_visible()
    fits(page)


def test_neither_is_the_door(phone: Visitor) -> None:
    page = phone.open(key="eg_wrong")
    expect(page.get_by_role("alert")).to_contain_text("does not know this key")
    fits(page)


def test_the_menu_unfolds_and_leads_to_every_page(phone: Visitor) -> None:
    page = phone.open()
    TableReader(page, "users_ui").is_live()
    menu = page.get_by_role("button", name="Menu")
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="final_ui")
    expect(link).to_have_count(0)
    menu.tap()
    link.tap()
    table = TableReader(page, "final_ui")
    table.shows("name", "Person 0")
    expect(link).to_have_count(0)
    fits(page)


def test_a_table_is_worked_by_taps(phone: Visitor) -> None:
    page = phone.open("/tables/final_ui")
    table = TableReader(page, "final_ui")
    table.shows("name", "Person 0")
    assert len(table.lines()) > 5, "a table needs room for rows"
    table.header("userId").tap()
    table.shows("userId", "U0", "U1", "U10")
    for menu in ("Filter", "Columns", "Export"):
        table.region.get_by_role("button", name=menu, exact=True).tap()
        expect(table.dialog).to_be_in_viewport(ratio=0.95)
        fits(page)
        page.keyboard.press("Escape")
    table.cell(2, "#").tap()
    details = page.get_by_role("dialog", name="Row of final_ui")
    expect(details).to_contain_text("Made from")
    expect(details).to_be_in_viewport(ratio=0.95)
    fits(page)
    details.get_by_role("button", name="Close the details").tap()
    expect(details).to_have_count(0)


def test_the_newest_row_is_seen_whole_where_it_is_followed(phone: Visitor) -> None:
    page = phone.open()
    for name in ("users_ui", "accounts_ui", "final_ui"):
        TableReader(page, name).ends_at(50)
    phone.gateway.upsert("users_ui", [user(50)])
    TableReader(page, "users_ui").ends_at(51)
