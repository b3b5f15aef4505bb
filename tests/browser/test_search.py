"""Words are looked for in all texts of a table, by the gateway."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.reader import TableReader, wait_for, words
from tests.browser.tables import user
from tests.browser.visitor import Visitor


def test_typing_finds_and_clearing_shows_everything_again(visitor: Visitor) -> None:
    visitor.gateway.upsert("users_ui", [user(7, name="Łukasz", email="l@firm.example")])
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.is_live()
    table.search.press_sequentially("łukasz")
    table.shows_only("name", "Łukasz")
    table.says("rows 1–1 of 1")
    table.search.fill("firm U7")  # each word may be in another column
    table.search.press("Enter")
    table.shows_only("name", "Łukasz")
    visitor.gateway.upsert("users_ui", [user(8, email="new@firm.example")])
    wait_for(table.page, lambda: words(table.page).get("search"), lambda is_: is_ == "firm U7")
    table.search.fill("firm")
    table.shows_only("name", "Łukasz", "Person 8")
    table.search.fill("")
    table.shows("name", "Person 0", "Person 1")
    wait_for(table.page, lambda: words(table.page), lambda said: not said)


def test_what_nobody_is_called_gives_a_sentence_and_a_way_out(visitor: Visitor) -> None:
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.is_live()
    table.search.fill('<img src=x onerror="alert(1)">')
    expect(table.region.get_by_text("No row matches this search")).to_be_visible()
    table.says("no rows")
    table.press("Clear search and filters")
    table.shows("name", "Person 0")
    expect(table.search).to_have_value("")
