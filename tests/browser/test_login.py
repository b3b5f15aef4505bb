"""Who has a key comes in; who has none, a wrong one or an old one is told so in plain words."""

from __future__ import annotations

import datetime

from playwright.sync_api import Page, Route, expect

from evergrid.gateway.access.key_file import create_key
from evergrid.gateway.http.assets import FOLDER, load
from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader, wait_for
from tests.browser.visitor import AWAY, Visitor
from tests.support.fault_proxy import FaultProxy
from tests.support.local_gateway import LocalGateway

UNKNOWN = "The gateway does not know this key."

# Wherever a browser could have put something down, but for the one place where the key may be.
KEPT = """
async () => JSON.stringify([
  location.href, document.cookie, { ...localStorage }, history.state, document.referrer, name,
  document.documentElement.outerHTML, await indexedDB.databases(), await caches.keys(),
])
"""


def enter(page: Page, key: str) -> None:
    page.get_by_label("Key", exact=True).fill(key)
    page.get_by_role("button", name="Log in").click()


def is_in(page: Page) -> None:
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def test_without_a_key_the_page_says_where_to_get_one(visitor: Visitor) -> None:
    page = visitor.open(key="")
    expect(page).to_have_title("Log in – Evergrid")
    expect(page.get_by_text("evergrid key create NAME")).to_be_visible()
    expect(page.get_by_label("Key", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Enter a key.")
    assert visitor.sockets == []


def test_a_wrong_key_is_said_to_be_wrong_and_another_one_opens(visitor: Visitor) -> None:
    page = visitor.open("/tables/users_ui", key="eg_wrong")
    expect(page.get_by_role("alert")).to_contain_text(UNKNOWN)
    assert len(visitor.sockets) == 1, "no use to try it again"
    enter(page, "eg_wrong_too")
    expect(page.get_by_role("alert")).to_contain_text(UNKNOWN)
    enter(page, f" {visitor.secret} ")
    TableReader(page, "users_ui").shows("name", "Person 0")


def test_a_key_whose_time_is_over(gateway: LocalGateway, visiting: Visiting) -> None:
    _, secret = create_key(gateway.settings.keys, "old", lifetime=datetime.timedelta(days=-1))
    gateway.stop()
    gateway.start()
    page = visiting(gateway).open(key=secret)
    expect(page.get_by_role("alert")).to_contain_text("This key has expired.")


def test_the_key_is_in_this_tab_and_nowhere_else(visitor: Visitor) -> None:
    page = visitor.open("/tables/users_ui?search=Person")
    is_in(page)
    assert visitor.secret not in page.evaluate(KEPT)
    assert page.evaluate("() => Object.values(sessionStorage)") == [visitor.secret]
    assert page.url == f"{visitor.address}/tables/users_ui?search=Person"
    assert not any(visitor.secret in url for url in visitor.requests)
    assert visitor.context.cookies() == []
    page.reload()
    is_in(page)
    other = visitor.new_page()
    other.goto(visitor.address)
    expect(other.get_by_label("Key", exact=True)).to_be_visible()
    page.go_back()
    assert visitor.secret not in page.url


def test_logging_out_forgets_the_key(visitor: Visitor) -> None:
    page = visitor.open("/tables/users_ui")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Key", exact=True)).to_be_visible()
    assert page.evaluate("() => Object.values(sessionStorage)") == []
    page.reload()
    expect(page.get_by_label("Key", exact=True)).to_be_visible()


def test_a_key_that_is_taken_away_ends_the_session_where_one_is(
    gateway: LocalGateway, visiting: Visiting
) -> None:
    secret = gateway.new_key("guest")
    gateway.stop()
    gateway.start()
    page = visiting(gateway).open("/tables/users_ui?search=Person", secret)
    TableReader(page, "users_ui").shows("name", "Person 0")
    gateway.remove_key("guest")
    expect(page.get_by_role("alert")).to_contain_text("You were logged out")
    enter(page, gateway.secret)
    TableReader(page, "users_ui").shows("name", "Person 0")
    assert page.url.endswith("/tables/users_ui?search=Person")


def test_a_gateway_that_does_not_answer_is_waited_for(
    gateway: LocalGateway, way: FaultProxy, visiting: Visiting
) -> None:
    visitor = visiting(gateway, address=way.address)
    visitor.allow(AWAY)
    page = visitor.open(key="")
    expect(page.get_by_label("Key", exact=True)).to_be_visible()
    way.refuse()
    way.cut()
    enter(page, gateway.secret)
    expect(page.get_by_text("The gateway cannot be reached. Retrying.")).to_be_visible()
    expect(page.get_by_role("button", name="Use another key")).to_be_visible()
    way.heal()
    is_in(page)
    TableReader(page, "users_ui").is_live()


def test_a_first_page_that_was_cut_off_is_loaded_after_the_login(visitor: Visitor) -> None:
    """It loads behind the form for the key; who logs in never knows that it did not come."""
    visitor.allow(AWAY)
    shell = b"".join(load(FOLDER).page).decode()
    lost: list[str] = []

    def cut_off(route: Route) -> None:
        part = route.request.url.rpartition("/")[2]
        if lost or part in shell:
            route.continue_()
        else:
            lost.append(part)
            route.abort("connectionreset")

    visitor.page.route("**/chunk-*.js", cut_off)
    page = visitor.open(key="")
    expect(page.get_by_label("Key", exact=True)).to_be_visible()
    wait_for(page, lambda: lost, bool)
    enter(page, visitor.secret)
    is_in(page)
    TableReader(page, "users_ui").is_live()
