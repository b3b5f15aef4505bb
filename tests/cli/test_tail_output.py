"""Changes as lines with aligned columns that fit the terminal, and as JSON."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from rich.cells import cell_len

from evergrid.cli.table_follower import as_changes
from evergrid.cli.tail_output import Style, TableLines, TailOutput, json_line, value_text
from evergrid.client import Change, ChangeKind
from evergrid.config import load
from evergrid.model.field_types import ColumnKind
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


def one(kind: ChangeKind = ChangeKind.ADDED, **cells: object) -> Change:
    (change,) = as_changes(pa.Table.from_pylist([ANN | cells], SCHEMA), [kind])
    return change


GONE = Change(ChangeKind.REMOVED, "0:9")


def test_the_header_names_table_generation_and_columns() -> None:
    title, names = table_lines().header()
    assert title == "final_ui · generation 4"
    assert names.split()[:4] == ["ts", "userId", "name", "email"]
    assert "_users_topic" not in names
    assert TableLines("quarantine", 0, COLUMNS, PLAIN).header()[0] == "quarantine"


def test_a_new_row_a_changed_one_and_a_deleted_one_have_their_marks() -> None:
    changes = [GONE, one(), one(ChangeKind.UPDATED)]
    shown = [table_lines().line(change, TODAY) for change in changes]
    assert [line[0] for line in shown] == ["-", "+", "~"]
    assert shown[0] == "- row 0:9 deleted"
    assert shown[1].startswith("+ 09:05:07.120  U1")


def test_a_row_of_another_day_has_its_date() -> None:
    line = table_lines().line(one(), TODAY + datetime.timedelta(days=1))
    assert line.startswith("+ 03-01 09:05   U1")
    line = table_lines().line(one(), TODAY + datetime.timedelta(days=365))
    assert line.startswith("+ 2026-03-01    U1")


def test_numbers_stand_under_the_right_end_of_their_names() -> None:
    heading = table_lines().header()[1]
    line = table_lines().line(one(), TODAY)
    assert line.index("-12.50") + 6 == heading.index("balance") + 7
    assert line.index("7  ", 20) == heading.index("age") + 2


@pytest.mark.parametrize("width", [40, 80, 110, 300])
def test_every_line_fits_whatever_a_row_holds(width: int) -> None:
    lines = table_lines(Style(width=width, color=False))
    wild = one(name="李" * 500, email="x" * 5000, ts=BEYOND_CALENDARS)
    assert max(cell_len(lines.line(change, TODAY)) for change in (one(), wild)) <= width


def test_columns_that_do_not_fit_are_counted_in_the_header() -> None:
    title, _ = table_lines(Style(width=50, color=False)).header()
    assert "more columns do not fit" in title


def test_at_80_columns_every_column_with_data_fits() -> None:
    lines = table_lines(Style(width=80, color=False))
    assert lines.header()[0] == "final_ui · generation 4"
    assert lines.line(one(), TODAY).endswith("  -12.50")


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, ColumnKind.TEXT, "–"),
        ("Zoë 李", ColumnKind.TEXT, "Zoë 李"),
        (True, ColumnKind.BOOLEAN, "true"),
        (9007199254740993, ColumnKind.INTEGER, "9007199254740993"),
        ("-0.50", ColumnKind.DECIMAL, "-0.50"),
        (1e300, ColumnKind.FLOAT, "1e+300"),
    ],
)
def test_a_value_is_shown_as_it_is(value: object, kind: ColumnKind, text: str) -> None:
    assert value_text(value, kind, TODAY) == text


def test_a_number_is_never_cut() -> None:
    long = "9" * 16 + ".99"
    assert table_lines().line(one(balance=Decimal(long)), TODAY).endswith(long)


def test_nulls_are_dim_and_marks_coloured_only_where_colour_is_wanted() -> None:
    line = table_lines(Style(width=110, color=True)).line(one(), TODAY)
    assert "\x1b[32m+\x1b[0m" in line
    assert "\x1b[2m–" in line
    assert "\x1b" not in table_lines().line(one(), TODAY)


def test_a_row_cannot_steer_the_terminal() -> None:
    for bad in (Change(ChangeKind.REMOVED, "0:1\x1b"), one(name="\x1b]0;owned\x07")):
        assert "\x1b" not in table_lines().line(bad, TODAY)


def test_all_columns_are_shown_when_asked_for() -> None:
    _, names = table_lines(Style(width=400, color=False, all_columns=True)).header()
    assert "_accounts_offset" in names
    assert names.split().count("ts") == 1


def test_json_has_the_id_and_the_whole_row_as_over_http() -> None:
    assert json.loads(json_line(GONE)) == {"id": "0:9", "row": None}
    change = json.loads(json_line(one(ts=1_767_225_600_123_456)))
    assert change["id"] == "0:1"
    assert set(change["row"]) == {column.name for column in COLUMNS}
    assert change["row"]["balance"] == "-12.50"
    assert change["row"]["ts"] == "2026-01-01T00:00:00.123456Z"
    assert change["row"]["age"] == 7
    assert change["row"]["accountType"] is None


def test_json_has_times_that_no_calendar_has() -> None:
    line = json_line(one(ts=BEYOND_CALENDARS))
    assert json.loads(line)["row"]["ts"].startswith("148108-")


def test_so_many_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    for count, left in ((1, 0), (2, 0), (9, 7)):
        output = TailOutput(PLAIN, json=True, count=count)
        output.write([GONE, one()])
        assert output.left == left
        assert capsys.readouterr().out.count("\n") == min(count, 2)
