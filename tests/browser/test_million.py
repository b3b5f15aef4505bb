"""A million rows are one table: any of them is a moment away."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visiting
from tests.browser.reader import NUMBER, TableReader, words
from tests.browser.tables import ROWS
from tests.support.local_gateway import LocalGateway

FAR = 10**9  # pixels; more than there are


@pytest.fixture
def table(big_gateway: LocalGateway, visiting: Visiting) -> TableReader:
    table = TableReader(visiting(big_gateway).open("/tables/million"), "million")
    table.starts_at(1)
    return table


def is_whole(table: TableReader) -> None:
    """Return when every line in view is the row that its number says, without a gap."""

    def right(lines: list[dict[str, str]]) -> bool:
        numbers = [int(line[NUMBER].replace(",", "")) for line in lines]
        return (
            len(numbers) > 5
            and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            and all(
                line["name"] == f"Row {number - 1}"
                for line, number in zip(lines, numbers, strict=True)
            )
        )

    table.wait(table.lines, right)


def test_it_is_scrolled_to_its_end_and_back(table: TableReader) -> None:
    table.scroll(FAR)
    table.ends_at(ROWS)
    is_whole(table)
    assert table.cells("name")[-1] == "Row 999999"
    table.scroll(-FAR)
    table.starts_at(1)
    is_whole(table)


def test_keys_go_to_the_end_and_to_the_start(table: TableReader) -> None:
    table.cell(1, "name").click()
    table.page.keyboard.press("ControlOrMeta+ArrowDown")
    table.ends_at(ROWS)
    is_whole(table)
    table.page.keyboard.press("ControlOrMeta+ArrowUp")
    table.starts_at(1)
    is_whole(table)
    table.page.keyboard.press("PageDown")
    table.wait(lambda: table.cells(NUMBER)[:1], lambda first: first not in ([], ["1"]))
    is_whole(table)


def test_any_row_is_gone_to_by_its_number(table: TableReader) -> None:
    for number in (500_000, 999_990, 2, 123_457):
        table.go_to(number)
        is_whole(table)
        table.wait(lambda: table.cells(NUMBER), lambda seen, n=number: f"{n:,}" in seen)  # type: ignore[misc]
    table.starts_at(123_457)
    table.wait(lambda: words(table.page), lambda said: said == {"row": "123457"})


def test_the_middle_is_where_the_scrollbar_is_dragged_to(table: TableReader) -> None:
    # Where a dragged thumb puts it; browsers without a screen draw no scrollbars to take hold of.
    table.grid.get_by_role("row").last.evaluate(
        """(row) => {
          let box = row;
          while (box.scrollHeight <= box.clientHeight + 1000) box = box.parentElement;
          box.scrollTop = box.scrollHeight / 2;
        }"""
    )
    table.wait(
        lambda: [int(text.replace(",", "")) for text in table.cells(NUMBER)[:1]],
        lambda first: first != [] and abs(first[0] - ROWS / 2) < 1000,
    )
    is_whole(table)


def test_it_is_ordered_searched_and_paged_like_any_other(table: TableReader) -> None:
    table.sort("number")
    table.sort("number")
    table.shows("name", "Row 999999", "Row 999998")
    table.go_to(ROWS)
    table.ends_at(ROWS)
    table.wait(lambda: table.cells("name")[-1:], lambda last: last == ["Row 0"])
    table.search.fill("Row 77777")
    table.shows("name", "Row 977777", "Row 877777", "Row 777779", "Row 777778")
    table.search.fill("")
    table.press("Pages")
    table.says("rows 1–300 of 1,000,000")
    table.pager.get_by_role("button", name="Last page").click()
    table.says("rows 999,901–1,000,000 of 1,000,000")
    expect(table.status).to_have_text("Live")
