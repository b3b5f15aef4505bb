"""The newest rows, for as long as one likes to see them come."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.reader import NUMBER, TableReader
from tests.browser.tables import START, user
from tests.browser.visitor import Visitor

INTERRUPTED = "You scrolled, so the table no longer follows the newest rows."


@pytest.fixture
def table(visitor: Visitor) -> TableReader:
    visitor.gateway.upsert("users_ui", [user(offset) for offset in range(50, 500)])
    table = TableReader(visitor.open("/tables/users_ui"), "users_ui")
    table.starts_at(1)
    return table


def test_new_rows_are_seen_until_one_scrolls_and_again_when_one_likes(
    visitor: Visitor, table: TableReader
) -> None:
    table.follow.click()
    expect(table.follow).to_have_attribute("aria-pressed", "true")
    table.ends_at(500)
    visitor.gateway.upsert("users_ui", [user(500), user(501)])
    table.ends_at(502)
    table.wait(lambda: table.cells("name")[-1], lambda last: last == "Person 501")

    table.scroll(-400)
    expect(table.region.get_by_text(INTERRUPTED)).to_be_visible()
    expect(table.follow).to_have_attribute("aria-pressed", "false")
    stayed = table.wait(lambda: table.cells(NUMBER), lambda seen: seen != [] and "502" not in seen)
    visitor.gateway.upsert("users_ui", [user(502)])
    table.wait(lambda: table.pager.inner_text(), lambda said: "of 503" in said)
    assert table.cells(NUMBER)[0] == stayed[0]

    table.press("Follow again")
    table.ends_at(503)
    expect(table.region.get_by_text(INTERRUPTED)).to_have_count(0)
    visitor.gateway.upsert("users_ui", [user(503)])
    table.ends_at(504)


def test_where_the_newest_are_on_top_they_are_followed_there(
    visitor: Visitor, table: TableReader
) -> None:
    table.sort("ts")
    table.sort("ts")
    table.shows("name", "Person 499")
    table.follow.click()
    visitor.gateway.upsert("users_ui", [user(500)])
    table.shows("name", "Person 500", "Person 499")
    table.shows(NUMBER, "1", "2")
    table.scroll(300)
    expect(table.region.get_by_text(INTERRUPTED)).to_be_visible()


def test_an_order_without_a_newest_end_is_given_up(visitor: Visitor, table: TableReader) -> None:
    table.sort("name")
    table.shows("name", "Person 0", "Person 1", "Person 10")
    table.follow.click()
    table.ends_at(500)
    expect(table.header("name")).to_have_attribute("aria-sort", "none")
    table.wait(lambda: table.cells("name")[-1], lambda last: last == "Person 499")


def test_the_last_page_is_followed_too(visitor: Visitor, table: TableReader) -> None:
    table.press("Pages")
    table.pager.get_by_label("Rows a page").select_option("100")
    table.follow.click()
    table.says("rows 401–500 of 500")
    visitor.gateway.upsert("users_ui", [user(500, ts=START + 10**12)])
    table.says("rows 402–501 of 501")
    table.wait(lambda: table.cells("name")[-1], lambda last: last == "Person 500")


def test_a_scrollbar_that_comes_later_does_not_hide_the_newest_row(
    visitor: Visitor, table: TableReader
) -> None:
    table.follow.click()
    table.ends_at(500)
    table.page.set_viewport_size({"width": 480, "height": 700})  # now columns are out of sight
    newest = table.grid.get_by_role("gridcell", name="Person 499", exact=True)

    def lowest_pixels() -> str:
        box = newest.bounding_box()
        assert box is not None
        point = [box["x"] + 12, box["y"] + box["height"] - 3]
        said: str = table.page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y)?.textContent ?? ''", point
        )
        return said

    table.wait(lowest_pixels, lambda said: said == "Person 499")
