"""Values and tables as text for a terminal."""

from __future__ import annotations

import datetime

import pytest
from rich.cells import cell_len

from evergrid.cli.terminal import cell, counted, local_time, table_lines
from evergrid.model.printable import printable


def microseconds(*parts: int) -> int:
    return round(datetime.datetime(*parts).timestamp() * 1_000_000)  # type: ignore[arg-type]


def test_a_local_time_has_its_date() -> None:
    assert local_time(microseconds(2026, 3, 1, 9, 5, 7, 120_000)) == "2026-03-01 09:05:07"


def test_a_time_outside_the_supported_years_is_shown_as_its_number() -> None:
    assert local_time(9_223_372_036_854_775_807) == "9223372036854775807"


def test_nothing_in_a_value_can_steer_the_terminal() -> None:
    assert printable("a\x1b[2Jb\nc\x9b") == "a\\x1b[2Jb\\nc\\x9b"
    assert printable("‮abc") == "\\u202eabc"


@pytest.mark.parametrize(
    "text", ["", "short", "exactly ten", "much longer than that", "李李李李李李"]
)
def test_a_cell_has_exactly_its_width(text: str) -> None:
    for width in range(12):
        assert cell_len(cell(text, width)) == width


def test_a_count_has_the_right_ending() -> None:
    assert [counted(number, "key") for number in (0, 1, 2)] == ["0 keys", "1 key", "2 keys"]


def test_columns_of_a_table_are_aligned_whatever_their_text() -> None:
    rows = [("a", "[bold]李[/bold] :smile:", "x"), ("long name", "", "y" * 300)]
    assert table_lines(rows, ("NAME", "TEXT", "LAST")) == [
        "NAME       TEXT                     LAST",
        "a          [bold]李[/bold] :smile:  x",
        f"long name{' ' * 27}{'y' * 300}",
    ]
    assert table_lines([("a", "b")]) == ["a  b"]
    assert table_lines([]) == []
