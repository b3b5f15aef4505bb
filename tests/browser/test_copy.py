"""What is copied is exact, and a spreadsheet takes it."""

from __future__ import annotations

import datetime
import json

import pytest

from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader, overhear
from tests.browser.tables import START, account
from tests.support.local_gateway import LocalGateway


@pytest.fixture
def table(gateway: LocalGateway, visiting: Visiting) -> TableReader:
    gateway.upsert("accounts_ui", [account(2, balance="9007199254740993.01", userId='a\t"b"')])
    visitor = visiting(gateway, permissions=["clipboard-read", "clipboard-write"])
    table = TableReader(visitor.open("/tables/accounts_ui"), "accounts_ui")
    table.shows("balance", "0.50", "10.50", "9,007,199,254,740,993.01")
    return table


def copied(table: TableReader) -> str:
    text: str = table.page.evaluate("() => navigator.clipboard.readText()")
    return text


def test_a_cell_is_copied_with_all_its_digits(table: TableReader) -> None:
    heard = overhear(table.page)
    table.cell(3, "balance").click()
    table.page.keyboard.press("ControlOrMeta+c")
    heard("Copied.")
    assert copied(table) == "9007199254740993.01"
    table.cell(1, "ts").click()
    table.page.keyboard.press("ControlOrMeta+c")
    moment = datetime.datetime.fromtimestamp((START + 1) / 1e6, datetime.UTC)
    exact = moment.replace(microsecond=(START + 1) % 1_000_000).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    table.wait(lambda: copied(table), lambda text: text == exact)


def test_a_block_of_cells_is_a_part_of_a_sheet(table: TableReader) -> None:
    table.cell(2, "userId").click()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        table.page.keyboard.press(f"Shift+{key}")
    heard = overhear(table.page)
    table.page.keyboard.press("ControlOrMeta+c")
    heard("Copied 2 rows.")
    assert copied(table) == 'U1\tsavings\t10.50\n"a\t""b"""\tcurrent\t9007199254740993.01'


def test_a_whole_row_is_copied_as_json(table: TableReader) -> None:
    table.cell(3, "#").click()
    details = table.page.get_by_role("dialog", name="Row of accounts_ui")
    heard = overhear(table.page)
    details.get_by_role("button", name="Copy as JSON").click()
    heard("Copied")
    row = json.loads(copied(table))
    assert row["userId"] == 'a\t"b"'
    assert row["balance"] == "9007199254740993.01"
    assert (row["_partition"], row["_offset"]) == (0, 2)
