"""Every state a table can be in is seen, with a sentence that says what it means."""

from __future__ import annotations

import re
import time

from playwright.sync_api import expect

from evergrid.protocol.messages import Live, WindowState
from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader
from tests.browser.tables import FINAL, USERS, final, user
from tests.browser.visitor import AWAY, Visitor
from tests.support.fault_proxy import FaultProxy
from tests.support.local_gateway import LocalGateway


def test_a_table_that_there_is_not_comes_alive_when_there_is(visitor: Visitor) -> None:
    visitor.gateway.withdraw("final_ui")
    table = TableReader(visitor.open("/tables/final_ui"), "final_ui")
    expect(table.status).to_have_text("No such table")
    expect(table.region.get_by_text("There is no table final_ui now.")).to_be_visible()
    visitor.gateway.place(FINAL, [final(1)])
    table.is_live()
    table.shows_only("name", "Person 1")


def test_a_table_that_there_never_was(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/nothing"), "nothing")
    expect(table.status).to_have_text("No such table")
    expect(table.region.get_by_text(re.compile("no table.* nothing"))).to_be_visible()


def test_a_table_that_the_key_may_not_read(gateway: LocalGateway, visiting: Visiting) -> None:
    key = gateway.new_key("accountant", ["accounts_*"])
    gateway.stop()
    gateway.start()  # a gateway that runs knows a new key only after a second
    page = visiting(gateway).open("/tables/users_ui", key)
    table = TableReader(page, "users_ui")
    expect(table.status).to_have_text("No rights")
    expect(table.region.get_by_text(re.compile("may not read"))).to_be_visible()
    pages = page.get_by_role("navigation", name="Pages")
    expect(pages.get_by_role("link", name="accounts_ui")).to_be_visible()
    expect(pages.get_by_role("link", name="users_ui")).to_have_count(0)


def test_a_table_without_rows(visitor: Visitor) -> None:
    visitor.gateway.place(USERS)
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    expect(table.region.get_by_text("No rows yet. New rows appear here.")).to_be_visible()
    table.is_live()
    visitor.gateway.upsert("users_ui", [user(1)])
    table.shows_only("name", "Person 1")


def test_a_table_that_is_being_loaded(visitor: Visitor) -> None:
    gateway = visitor.gateway
    sentence = "Loading: 100 of 400 changes."
    loading = WindowState(Live.LOADING, sentence, done=100, total=400)
    gateway.call(lambda: gateway.engine.say("users_ui", loading))
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    expect(table.status).to_have_text("Loading 25%")
    gateway.say("users_ui", Live.LIVE)
    table.is_live()


def test_stale_rows_stay_and_are_said_to_be_old(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.shows("name", "Person 0")
    sentence = "Kafka cannot be reached."
    visitor.gateway.say("users_ui", Live.STALE, sentence, time.time_ns() // 1000 - 60_000_000)
    expect(table.status).to_have_text(re.compile(r"Stale since (\w+ \d+, )?\d\d:\d\d:\d\d"))
    expect(table.region.get_by_text(sentence)).to_be_visible()
    table.shows("name", "Person 0")
    visitor.gateway.say("users_ui", Live.LIVE)
    table.is_live()
    expect(table.region.get_by_text(sentence)).to_have_count(0)


def test_the_first_rows_are_waited_for_in_words(
    gateway: LocalGateway, way: FaultProxy, visiting: Visiting
) -> None:
    page = visiting(gateway, address=way.address).open("/tables/users_ui")
    TableReader(page, "users_ui").shows("name", "Person 0")
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="accounts_ui")
    expect(link).to_be_visible()  # it does not come with the rows
    way.hold()
    link.click()
    table = TableReader(page, "accounts_ui")
    expect(table.status).to_have_text("Connecting")
    expect(table.region.get_by_text("Loading the first rows of the table.")).to_be_visible()
    way.heal()
    table.is_live()
    table.shows("userId", "U0")


def test_a_lost_connection_is_said_and_made_again(
    gateway: LocalGateway, way: FaultProxy, visiting: Visiting
) -> None:
    visitor = visiting(gateway, address=way.address)
    visitor.allow(AWAY)
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.shows("name", "Person 0")
    way.refuse()
    way.cut()
    expect(table.status).to_have_text(re.compile(r"Reconnecting since \d\d:\d\d:\d\d"))
    expect(table.region.get_by_text("these rows are outdated.")).to_be_visible()
    expect(table.page.get_by_text(re.compile(r"The data is \d+ s old\."))).to_be_visible()
    table.shows("name", "Person 0")
    gateway.upsert("users_ui", [user(0, name="Mei")])
    table.page.get_by_role("button", name="Retry now").click()  # in vain
    expect(table.status).to_have_text(re.compile("Reconnecting since"))
    way.heal()
    table.is_live()
    table.shows("name", "Mei", "Person 1")
    expect(table.page.get_by_role("button", name="Retry now")).to_have_count(0)
