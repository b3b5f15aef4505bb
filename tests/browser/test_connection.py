"""One connection for the whole page, that comes back by itself from whatever happens to it."""

from __future__ import annotations

import re
import urllib.request

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader, wait_for
from tests.browser.tables import account, final, place_all, user
from tests.browser.visitor import AWAY, Visitor
from tests.support.fault_proxy import FaultProxy
from tests.support.local_gateway import LocalGateway

TABLES = ("users_ui", "accounts_ui", "final_ui")
JUST_NOW = "String(Date.now() + 600_000)"  # however long it takes until the gateway is back
PART_MISSING = "A part of the page could not be loaded"


def metrics(gateway: LocalGateway) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {gateway.secret}"}
    request = urllib.request.Request(f"{gateway.address}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text: str = answer.read().decode()
    return dict(re.findall(r"^evergrid_(\S+) (\S+)$", text, re.MULTILINE))


def views(gateway: LocalGateway) -> dict[str, str]:
    now = metrics(gateway)
    wanted = ["connections", "views", "windows", "subscribers"]
    return {name: now[name] for name in wanted} | {
        name: now[f'table_views{{table="{name}"}}'] for name in TABLES
    }


def newest(page: Page) -> dict[str, str]:
    """What the last line of each table says of whom."""
    column = {"users_ui": "name", "accounts_ui": "userId", "final_ui": "name"}
    last = {name: TableReader(page, name).cells(column[name])[-1:] for name in TABLES}
    return {name: cell[0] if cell else "" for name, cell in last.items()}


def shows(page: Page, person: str) -> None:
    number = person.removeprefix("Person ")
    wanted = {"users_ui": person, "accounts_ui": f"U{number}", "final_ui": person}
    wait_for(page, lambda: newest(page), lambda seen: seen == wanted)
    for name in TABLES:
        TableReader(page, name).is_live()


def add(gateway: LocalGateway, offset: int) -> None:
    gateway.upsert("users_ui", [user(offset)])
    gateway.upsert("accounts_ui", [account(offset)])
    gateway.upsert("final_ui", [final(offset)])


def test_three_tables_are_one_connection_and_one_view_each(visitor: Visitor) -> None:
    page = visitor.open()
    shows(page, "Person 49")
    one_each = dict.fromkeys(TABLES, "1")
    wanted = {"connections": "1", "views": "3", "windows": "3", "subscribers": "3"} | one_each
    wait_for(page, lambda: views(visitor.gateway), lambda seen: seen == wanted)
    add(visitor.gateway, 50)
    shows(page, "Person 50")
    assert len(visitor.sockets) == 1
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Status").click()
    # The lists of generations and of control messages.
    lists = {"connections": "1", "views": "2", "windows": "2", "subscribers": "2"}
    wanted = lists | dict.fromkeys(TABLES, "0")
    wait_for(page, lambda: views(visitor.gateway), lambda seen: seen == wanted)


def test_many_who_look_at_the_same_share_the_views(visitor: Visitor, visiting: Visiting) -> None:
    pages = [visitor.open(), visiting(visitor.gateway).open(), visiting(visitor.gateway).open()]
    for page in pages:
        shows(page, "Person 49")
    one_each = dict.fromkeys(TABLES, "1")
    wanted = {"connections": "3", "views": "3", "windows": "3", "subscribers": "9"} | one_each
    wait_for(pages[0], lambda: views(visitor.gateway), lambda seen: seen == wanted)


@pytest.fixture
def away(gateway: LocalGateway, way: FaultProxy, visiting: Visiting) -> Visitor:
    """Somebody at the dashboard, with a network between."""
    visitor = visiting(gateway, address=way.address)
    visitor.allow(AWAY)
    shows(visitor.open(), "Person 49")
    visitor.page.evaluate("() => { window.same = true }")
    return visitor


def is_the_same(page: Page) -> None:
    assert page.evaluate("() => window.same") is True, "the page was loaded anew"


def test_the_network_is_cut_and_comes_back(away: Visitor, way: FaultProxy) -> None:
    for cut in (way.cut, way.reset):
        way.refuse()
        cut()
        for name in TABLES:
            expect(TableReader(away.page, name).status).to_contain_text("Reconnecting since")
        expect(away.page.get_by_role("banner").get_by_role("status")).to_contain_text("Offline")
        add(away.gateway, 50 if cut == way.cut else 51)
        way.heal()
        shows(away.page, "Person 50" if cut == way.cut else "Person 51")
    is_the_same(away.page)


def test_the_gateway_restarts_with_other_rows(away: Visitor) -> None:
    gateway = away.gateway
    gateway.stop()
    for name in TABLES:
        expect(TableReader(away.page, name).status).to_contain_text("Reconnecting since")
    gateway.start()
    shows(away.page, "Person 49")
    gateway.stop()
    place_all(gateway, 60)
    gateway.start()
    shows(away.page, "Person 59")
    is_the_same(away.page)


def test_a_new_generation_is_followed_by_itself(visitor: Visitor) -> None:
    page = visitor.open()
    shows(page, "Person 49")
    place_all(visitor.gateway, 80)
    shows(page, "Person 79")
    assert len(visitor.sockets) == 1


def without_a_part(away: Visitor, way: FaultProxy) -> Page:
    """A page that was cut off, and then needed a part of itself that it has not loaded."""
    way.refuse()
    way.cut()
    page = away.page
    expect(TableReader(page, "users_ui").status).to_contain_text("Reconnecting since")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Quarantine").click()
    expect(page.get_by_text(PART_MISSING)).to_be_visible()
    return page


def test_a_page_that_cannot_be_loaded_is_loaded_when_the_gateway_is_back(
    away: Visitor, way: FaultProxy
) -> None:
    page = without_a_part(away, way)
    way.heal()
    expect(page.get_by_text(PART_MISSING)).to_be_hidden()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    TableReader(page, "users_ui").is_live()


def test_a_page_that_has_just_reloaded_itself_leaves_it_to_the_user(
    away: Visitor, way: FaultProxy
) -> None:
    page = without_a_part(away, way)
    page.evaluate(f"sessionStorage.setItem('evergrid.reloaded', {JUST_NOW})")
    way.heal()
    page.get_by_role("button", name="Reload the page").click()
    expect(page.get_by_text(PART_MISSING)).to_be_hidden()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    TableReader(page, "users_ui").is_live()


def test_details_that_cannot_be_loaded_are_said_to_be(away: Visitor, way: FaultProxy) -> None:
    way.refuse()
    way.cut()
    table = TableReader(away.page, "users_ui")
    expect(table.status).to_contain_text("Reconnecting since")
    table.cell(49, "#").click()
    expect(away.page.get_by_role("alert")).to_contain_text("Loading the details failed.")
