"""The status page: generation, topics, join, rows, rates, lag and freshness, live."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from evergrid.protocol.messages import Live
from tests.browser.conftest import Visiting
from tests.browser.tables import user
from tests.browser.visitor import AWAY, Visitor
from tests.support.fault_proxy import FaultProxy
from tests.support.local_gateway import LocalGateway


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("main").get_by_role("region", name=name, exact=True)


def test_the_pipeline_is_told_with_its_topics_and_its_join(visitor: Visitor) -> None:
    pipeline = card(visitor.open("/status"), "Pipeline")
    expect(pipeline).to_contain_text("The pipeline runs.")
    expect(pipeline).to_contain_text("Generation 1")
    listed = pipeline.get_by_role("listitem")
    expect(listed.nth(0)).to_have_text(re.compile(r"topic users\s*goes to\s*users_ui"))
    expect(listed.nth(1)).to_have_text(re.compile(r"topic accounts\s*goes to\s*accounts_ui"))
    expect(listed.nth(2)).to_have_text(re.compile(r"left join of users and accounts\s*goes to"))
    pipeline.get_by_role("link", name="final_ui").click()
    expect(visitor.page).to_have_title("final_ui – Evergrid")


def test_a_pipeline_of_which_nothing_is_known_is_said_to_be(visitor: Visitor) -> None:
    pipeline = card(visitor.open("/status"), "Pipeline")
    expect(pipeline).to_contain_text("The pipeline runs.")
    visitor.gateway.engine.down = "Kafka cannot be reached."
    expect(pipeline.get_by_text("unknown", exact=True)).to_be_visible()
    expect(pipeline).to_contain_text("Kafka cannot be reached. Going on when it is back.")


def test_each_table_has_its_figures_with_charts_that_go_on(visitor: Visitor) -> None:
    page = visitor.open("/status")
    table = card(page, "users_ui")
    expect(table).to_contain_text("messages of topic users · generation 1")
    figures = ("Rows", "Changes", "Lag", "Newest row", "Memory", "Views")
    for figure in figures:
        expect(table.get_by_role("img", name=f"{figure} of users_ui")).to_be_visible()
    expect(table.get_by_text("50", exact=True)).to_be_visible()
    visitor.gateway.upsert("users_ui", [user(offset) for offset in range(50, 1234)])
    expect(table.get_by_text("1,234", exact=True)).to_be_visible()
    between = re.compile(r"Rows of users_ui, last .*: between 50 and 1,234")
    expect(table.get_by_role("img", name=between)).to_be_visible()
    visitor.gateway.say("users_ui", Live.STALE, "Kafka cannot be reached.")
    expect(table.get_by_text("stale", exact=True)).to_be_visible()
    expect(table).to_contain_text("Kafka cannot be reached.")


def test_figures_of_a_gateway_that_is_away_are_said_to_be_old(
    gateway: LocalGateway, way: FaultProxy, visiting: Visiting
) -> None:
    visitor = visiting(gateway, address=way.address)
    visitor.allow(AWAY)
    page = visitor.open("/status")
    expect(page.get_by_text("Updated every second.")).to_be_visible()
    way.refuse()
    way.cut()
    expect(page.get_by_text(re.compile(r"Outdated: last updated \d+ s ago\."))).to_be_visible()
    expect(card(page, "users_ui").get_by_text("was live")).to_be_visible()
    way.heal()
    expect(page.get_by_text("Updated every second.")).to_be_visible()
