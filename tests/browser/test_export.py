"""A file of what is shown: the gateway's rows with the same filter, order and columns."""

from __future__ import annotations

import json
import re
import urllib.parse
import urllib.request
from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import Download

from tests.browser.reader import TableReader, overhear
from tests.browser.tables import account
from tests.browser.visitor import Visitor

COLUMNS = "userId,accountType,balance,ts"
FILTER = {"column": "balance", "op": "greater_or_equal", "value": "100"}


@pytest.fixture
def table(visitor: Visitor) -> TableReader:
    visitor.gateway.upsert(
        "accounts_ui",
        [
            account(20, accountType='=cmd|"/c calc"', balance="9007199254740993.01"),
            account(21, accountType=None, balance="300.00"),
            account(22, accountType='Łódź, "two"\nlines'),
        ],
    )
    table = TableReader(visitor.open("/tables/accounts_ui"), "accounts_ui")
    table.filter("balance", "at least", "100")
    table.sort("balance")
    table.sort("balance")
    table.shows("balance", "9,007,199,254,740,993.01", "490.50")
    return table


def asked(visitor: Visitor, **parameters: str) -> bytes:
    """What the gateway answers to a program."""
    words = {"columns": COLUMNS, "filter": json.dumps(FILTER), "order": "-balance"} | parameters
    path = f"/api/tables/accounts_ui/rows?{urllib.parse.urlencode(words)}"
    headers = {"Authorization": f"Bearer {visitor.gateway.secret}"}
    request = urllib.request.Request(visitor.gateway.address + path, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        body: bytes = answer.read()
    return body


def export(table: TableReader, words: str) -> Download:
    table.press("Export")
    with table.page.expect_download() as download:
        table.dialog.get_by_role("button", name=words).click()
    return download.value


def content(download: Download) -> bytes:
    return Path(download.path()).read_bytes()


def test_all_rows_as_csv(visitor: Visitor, table: TableReader) -> None:
    heard = overhear(table.page)
    file = export(table, "All rows as CSV")
    assert re.fullmatch(r"accounts_ui-\d{4}-\d\d-\d\d-\d{6}\.csv", file.suggested_filename)
    body = content(file)
    assert body == asked(visitor, format="csv", limit="all", guard="true")
    assert body.count(b"\r\n") == 1 + 40
    assert b"'=cmd|" in body, "a spreadsheet would run it"
    heard("Exported as CSV")


def test_one_page_as_arrow(visitor: Visitor, table: TableReader) -> None:
    table.press("Pages")
    table.pager.get_by_label("Rows a page").select_option("50")
    table.says("rows 1–40 of 40")
    file = export(table, "This page as Arrow")
    assert file.suggested_filename.endswith(".arrow")
    shown = pa.ipc.open_stream(content(file)).read_all()
    wanted = pa.ipc.open_stream(asked(visitor, format="arrow", limit="40")).read_all()
    assert shown.equals(wanted)
    assert shown.column_names == ["_id", *COLUMNS.split(",")]


def test_columns_as_they_are_arranged(visitor: Visitor, table: TableReader) -> None:
    table.press("Columns")
    table.dialog.get_by_role("checkbox", name="ts", exact=True).click()
    table.dialog.get_by_role("button", name="Pin balance left").click()
    table.page.keyboard.press("Escape")
    body = content(export(table, "All rows as CSV"))
    columns = "balance,userId,accountType"
    assert body == asked(visitor, columns=columns, format="csv", limit="all", guard="true")
