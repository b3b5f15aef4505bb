"""Rows as a terminal shows them: values as text, and columns that fit its width. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from evergrid.changelog.codec import Value
from evergrid.model.types import Kind

NULL = "–"
GAP = 2
_ELLIPSIS = "…"
_LEAST_TEXT = 8
_NUMBERS = (Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL)
_LONGEST = 400  # characters of one value that are looked at; no terminal shows more


def shown(value: Value, kind: Kind, today: datetime.date) -> str:
    """One value on one line; times in the local zone, with their date unless it is `today`."""
    if value is None:
        return NULL
    if kind is Kind.TIMESTAMP and isinstance(value, int):
        return moment(value, today)
    if isinstance(value, bool):
        return "true" if value else "false"
    return printable(str(value)[:_LONGEST])


def moment(microseconds: int, today: datetime.date) -> str:
    """A time to the millisecond."""
    try:
        seconds, rest = divmod(microseconds, 1_000_000)
        at = datetime.datetime.fromtimestamp(seconds).replace(microsecond=rest)
    except (ValueError, OverflowError, OSError):  # beyond what calendars hold
        return str(microseconds)
    text = at.isoformat(sep=" ", timespec="milliseconds")
    return text[11:] if at.date() == today else text


def printable(text: str) -> str:
    """`text` without anything that could steer a terminal: such characters are spelt out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def is_number(kind: Kind) -> bool:
    return kind in _NUMBERS


def cell(text: str, width: int, *, right: bool = False) -> str:
    """`text` in exactly `width` cells, cut with an ellipsis when it is longer."""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, max(width - 1, 0)) + _ELLIPSIS if width else ""
    return " " * (width - length) + text if right else text + " " * (width - length)


def fit(wanted: Sequence[int], kinds: Sequence[Kind], available: int) -> list[int]:
    """Widths of the columns that fit in `available` cells; the last columns are left out.

    Only texts are made narrower: a number that is cut would be another number.
    """
    widths = list(wanted)
    least = [
        min(width, _LEAST_TEXT) if kind is Kind.TEXT else width
        for width, kind in zip(wanted, kinds, strict=True)
    ]
    while least and sum(least) + GAP * (len(least) - 1) > available:
        least.pop()
        widths.pop()
    spare = available - GAP * (len(widths) - 1)
    while sum(widths) > spare:
        widest = max(
            (i for i in range(len(widths)) if widths[i] > least[i]), key=widths.__getitem__
        )
        widths[widest] -= 1
    return widths
