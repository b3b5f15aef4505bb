"""Values and tables as text for a terminal."""

from __future__ import annotations

import datetime

import pytest
from rich.cells import cell_len

from evergrid.changelog.codec import Value
from evergrid.cli.terminal import cell, local_time, short_time, table_lines, value_text
from evergrid.model.field_types import ColumnKind
from evergrid.model.printable import printable

TODAY = datetime.date(2026, 3, 1)


def microseconds(*parts: int) -> int:
    return round(datetime.datetime(*parts).timestamp() * 1_000_000)  # type: ignore[arg-type]


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
def test_a_value_is_shown_as_it_is(value: Value, kind: ColumnKind, text: str) -> None:
    assert value_text(value, kind, TODAY) == text


@pytest.mark.parametrize(
    ("day", "text"),
    [
        ((2026, 3, 1), "09:05:07.120"),
        ((2026, 2, 28), "02-28 09:05"),
        ((2025, 3, 1), "2025-03-01"),
    ],
)
def test_a_short_time_has_its_date_unless_it_is_of_today(
    day: tuple[int, int, int], text: str
) -> None:
    at = microseconds(*day, 9, 5, 7, 120_000)
    assert short_time(at, TODAY) == value_text(at, ColumnKind.TIMESTAMP, TODAY) == text


def test_a_local_time_has_its_date() -> None:
    assert local_time(microseconds(2026, 3, 1, 9, 5, 7, 120_000)) == "2026-03-01 09:05:07"


def test_a_time_outside_the_supported_years_is_shown_as_its_number() -> None:
    assert local_time(9_223_372_036_854_775_807) == "9223372036854775807"
    assert short_time(9_223_372_036_854_775_807, TODAY) == "9223372036854775807"


def test_nothing_in_a_value_can_steer_the_terminal() -> None:
    assert printable("a\x1b[2Jb\nc\x9b") == "a\\x1b[2Jb\\nc\\x9b"
    assert printable("‮abc") == "\\u202eabc"


@pytest.mark.parametrize(
    "text", ["", "short", "exactly ten", "much longer than that", "李李李李李李"]
)
def test_a_cell_has_exactly_its_width(text: str) -> None:
    for width in range(12):
        assert cell_len(cell(text, width)) == width
        assert cell_len(cell(text, width, right=True)) == width


def test_columns_of_a_table_are_aligned_whatever_their_text() -> None:
    rows = [("a", "[bold]李[/bold] :smile:", "x"), ("long name", "", "y" * 300)]
    assert table_lines(rows, ("NAME", "TEXT", "LAST")) == [
        "NAME       TEXT                     LAST",
        "a          [bold]李[/bold] :smile:  x",
        f"long name{' ' * 27}{'y' * 300}",
    ]
    assert table_lines([("a", "b")]) == ["a  b"]
    assert table_lines([]) == []
