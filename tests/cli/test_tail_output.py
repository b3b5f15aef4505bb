"""Changes as lines with aligned columns that fit the terminal, and as JSON."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from rich.cells import cell_len

from evergrid.cli.row_diff import RowChange, RowDiff, all_new
from evergrid.cli.tail_output import Style, TableLines, json_lines
from evergrid.config import load
from evergrid.store.column import arrow_type

TODAY = datetime.date(2026, 3, 1)
AT = round(datetime.datetime(2026, 3, 1, 9, 5, 7, 120_000).timestamp() * 1_000_000)
COLUMNS = load(None, {}).joined_tables()[0].columns
SCHEMA = pa.schema([("_id", pa.string()), *((c.name, arrow_type(c.type)) for c in COLUMNS)])
PLAIN = Style(width=110, color=False)
BEYOND_CALENDARS = 2**62

ANN: dict[str, object] = {
    "_id": "0:1",
    "userId": "U1",
    "name": "Ann Lee",
    "email": "ann@example.com",
    "age": 7,
    "balance": Decimal("-12.50"),
    "ts": AT,
    "_users_topic": "users",
}


def table_lines(style: Style = PLAIN) -> TableLines:
    return TableLines("final_ui", 4, COLUMNS, style)


def rows(*some: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(some), SCHEMA)


def one(**cells: object) -> RowDiff:
    return all_new(rows(ANN | cells))


def test_the_header_names_table_generation_and_columns() -> None:
    title, names = table_lines().header()
    assert title == "final_ui · generation 4"
    assert names.split()[:4] == ["ts", "userId", "name", "email"]
    assert "_users_topic" not in names
    assert TableLines("quarantine", 0, COLUMNS, PLAIN).header()[0] == "quarantine"


def test_a_new_row_a_changed_one_and_a_deleted_one_have_their_marks() -> None:
    diff = RowDiff(("0:9",), (RowChange.NEW, RowChange.UPDATED), rows(ANN, ANN))
    shown = table_lines().lines(diff, TODAY)
    assert [line[0] for line in shown] == ["-", "+", "~"]
    assert shown[0] == "- row 0:9 deleted"
    assert shown[1].startswith("+ 09:05:07.120  U1")


def test_a_row_of_another_day_has_its_date() -> None:
    (line,) = table_lines().lines(one(), TODAY + datetime.timedelta(days=1))
    assert line.startswith("+ 03-01 09:05   U1")


def test_numbers_stand_under_the_right_end_of_their_names() -> None:
    heading = table_lines().header()[1]
    (line,) = table_lines().lines(one(), TODAY)
    assert line.index("-12.50") + 6 == heading.index("balance") + 7
    assert line.index("7  ", 20) == heading.index("age") + 2


@pytest.mark.parametrize("width", [40, 80, 110, 300])
def test_every_line_fits_whatever_a_row_holds(width: int) -> None:
    lines = table_lines(Style(width=width, color=False))
    wild = ANN | {
        "name": "李" * 500,
        "email": "x" * 5000,
        "ts": BEYOND_CALENDARS,
    }
    assert max(map(cell_len, lines.lines(all_new(rows(ANN, wild)), TODAY))) <= width


def test_columns_that_do_not_fit_are_counted_in_the_header() -> None:
    title, _ = table_lines(Style(width=50, color=False)).header()
    assert "more columns do not fit" in title


def test_at_80_columns_every_column_with_data_fits() -> None:
    lines = table_lines(Style(width=80, color=False))
    assert lines.header()[0] == "final_ui · generation 4"
    assert lines.lines(one(), TODAY)[0].endswith("  -12.50")


def test_a_number_is_never_cut() -> None:
    long = "9" * 16 + ".99"
    assert table_lines().lines(one(balance=Decimal(long)), TODAY)[0].endswith(long)


def test_nulls_are_dim_and_marks_coloured_only_where_colour_is_wanted() -> None:
    (line,) = table_lines(Style(width=110, color=True)).lines(one(), TODAY)
    assert "\x1b[32m+\x1b[0m" in line
    assert "\x1b[2m–" in line
    assert "\x1b" not in "".join(table_lines().lines(one(), TODAY))


def test_a_row_cannot_steer_the_terminal() -> None:
    bad = RowDiff(("0:1\x1b",), (RowChange.NEW,), rows(ANN | {"name": "\x1b]0;owned\x07"}))
    assert "\x1b" not in "".join(table_lines().lines(bad, TODAY))


def test_all_columns_are_shown_when_asked_for() -> None:
    _, names = table_lines(Style(width=400, color=False, all_columns=True)).header()
    assert "_accounts_offset" in names
    assert names.split().count("ts") == 1


def test_json_has_the_id_and_the_whole_row_as_over_http() -> None:
    gone, there = json_lines(
        RowDiff(("0:9",), (RowChange.NEW,), rows(ANN | {"ts": 1_767_225_600_123_456}))
    )
    assert json.loads(gone) == {"id": "0:9", "row": None}
    change = json.loads(there)
    assert change["id"] == "0:1"
    assert set(change["row"]) == {column.name for column in COLUMNS}
    assert change["row"]["balance"] == "-12.50"
    assert change["row"]["ts"] == "2026-01-01T00:00:00.123456Z"
    assert change["row"]["age"] == 7
    assert change["row"]["accountType"] is None


def test_json_has_times_that_no_calendar_has() -> None:
    (line,) = json_lines(one(ts=BEYOND_CALENDARS))
    assert json.loads(line)["row"]["ts"].startswith("148108-")
