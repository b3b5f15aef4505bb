"""A person opens the address that the demo prints, and sees live tables."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visiting
from tests.browser.tables import user
from tests.browser.visitor import Visitor
from tests.support.local_gateway import LocalGateway

FIRST_LOAD_BYTES = 350_000
LOADED = """
() => performance.getEntriesByType('navigation')
  .concat(performance.getEntriesByType('resource'))
  .filter((one) => !one.name.includes('/api/'))
  .map((one) => [one.name, one.encodedBodySize])
"""


def test_without_a_key_the_page_asks_for_one(visitor: Visitor) -> None:
    page = visitor.open(key="")
    expect(page.get_by_label("Key", exact=True)).to_be_visible()
    expect(page).to_have_title(re.compile("Evergrid"))
    assert visitor.sockets == []


def test_with_a_key_in_its_address_the_three_tables_are_there(visitor: Visitor) -> None:
    page = visitor.open()
    for name in ("users_ui", "accounts_ui", "final_ui"):
        expect(page.get_by_role("main").get_by_text(name, exact=True).first).to_be_visible()
    expect(page.get_by_text("Person 49").first).to_be_visible()
    assert visitor.gateway.secret not in page.url
    assert len(visitor.sockets) == 1


def test_a_change_is_seen_without_doing_anything(visitor: Visitor) -> None:
    page = visitor.open("/tables/users_ui")
    expect(page.get_by_text("Person 1", exact=True)).to_be_visible()
    visitor.gateway.upsert("users_ui", [user(1, name="Mei")])
    expect(page.get_by_text("Mei", exact=True)).to_be_visible()


def test_a_first_visit_loads_little(visitor: Visitor) -> None:
    page = visitor.open()
    expect(page.get_by_text("Person 49").first).to_be_visible()
    loaded: dict[str, int] = dict(page.evaluate(LOADED))
    assert len(loaded) > 2, loaded
    assert sum(loaded.values()) <= FIRST_LOAD_BYTES, loaded


def test_a_million_rows_are_one_table_among_others(
    visiting: Visiting, big_gateway: LocalGateway
) -> None:
    page = visiting(big_gateway).open("/tables/million")
    expect(page.get_by_text("Row 0", exact=True)).to_be_visible()
    expect(page.get_by_text("1,000,000").first).to_be_visible()
