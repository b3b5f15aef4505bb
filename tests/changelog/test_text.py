"""Values and columns as a terminal shows them."""

from __future__ import annotations

import datetime

import pytest
from rich.cells import cell_len

from evergrid.changelog.codec import Value
from evergrid.changelog.text import GAP, cell, fit, moment, printable, shown
from evergrid.model.types import Kind

TODAY = datetime.date(2026, 3, 1)


def microseconds(*parts: int) -> int:
    return round(datetime.datetime(*parts).timestamp() * 1_000_000)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, Kind.TEXT, "–"),
        ("Zoë 李", Kind.TEXT, "Zoë 李"),
        (True, Kind.BOOLEAN, "true"),
        (9007199254740993, Kind.INTEGER, "9007199254740993"),
        ("-0.50", Kind.DECIMAL, "-0.50"),
        (1e300, Kind.FLOAT, "1e+300"),
    ],
)
def test_a_value_is_shown_as_it_is(value: Value, kind: Kind, text: str) -> None:
    assert shown(value, kind, TODAY) == text


def test_a_time_of_today_needs_no_date() -> None:
    assert moment(microseconds(2026, 3, 1, 9, 5, 7, 120_000), TODAY) == "09:05:07.120"
    other = moment(microseconds(2026, 2, 28, 9, 5, 7, 120_000), TODAY)
    assert other == "2026-02-28 09:05:07.120"


def test_a_time_that_no_calendar_holds_is_shown_as_its_number() -> None:
    assert moment(9_223_372_036_854_775_807, TODAY) == "9223372036854775807"


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


def test_texts_give_way_and_numbers_never_do() -> None:
    kinds = [Kind.TEXT, Kind.DECIMAL, Kind.TEXT]
    assert fit([30, 12, 10], kinds, 100) == [30, 12, 10]
    widths = fit([30, 12, 10], kinds, 40)
    assert sum(widths) + 2 * GAP == 40
    assert widths[1] == 12


def test_columns_that_cannot_fit_are_left_out_from_the_end() -> None:
    kinds = [Kind.INTEGER] * 4
    assert fit([8, 8, 8, 8], kinds, 20) == [8, 8]
    assert fit([8, 8, 8, 8], kinds, 3) == []
