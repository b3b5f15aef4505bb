"""What two tables do not agree on, as a table one can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from evergrid.testing.oracle.field import JsonText, Value

_WIDEST = 60
_LEAD = 10  # characters shown before the place where two long values part
_HEADER = ("row id", "what", "column", "expected", "actual")
_NOT_JSON = object()
_Line = tuple[str, str, str, str, str]
_Fields = Mapping[str, Value]
_Rows = Mapping[str, _Fields]


def differences(expected: _Rows, actual: _Rows, limit: int = 10) -> str:
    """The first `limit` rows that differ, column by column; empty when none does.

    Values must agree in type too: 3 is not 3.0, and True is not 1.
    """
    ids = sorted(differing(expected, actual, expected.keys() | actual.keys()), key=_order)
    if not ids:
        return ""
    missing = len(expected.keys() - actual.keys())
    extra = len(actual.keys() - expected.keys())
    summary = (
        f"{len(ids)} rows differ ({missing} missing, {extra} extra, "
        f"{len(ids) - missing - extra} changed) "
        f"of {len(expected)} expected and {len(actual)} actual; showing {min(limit, len(ids))}:"
    )
    lines = [_HEADER]
    for row_id in ids[:limit]:
        lines.extend(_lines(row_id, expected.get(row_id), actual.get(row_id)))
    return "\n".join([summary, *_aligned(lines)])


def differing(expected: _Rows, actual: _Rows, ids: Iterable[str]) -> set[str]:
    """Those of `ids` whose rows are not the same in both tables."""
    return {row_id for row_id in ids if not _same_row(expected.get(row_id), actual.get(row_id))}


def _lines(row_id: str, expected: _Fields | None, actual: _Fields | None) -> Iterator[_Line]:
    what = "extra" if expected is None else "missing" if actual is None else "changed"
    for column in {**(expected or {}), **(actual or {})}:
        cells = _cell(expected, column), _cell(actual, column)
        if cells[0] != cells[1]:
            yield (row_id, what, column, *_cut(*cells))


def _same_row(expected: _Fields | None, actual: _Fields | None) -> bool:
    if expected is None or actual is None or expected.keys() != actual.keys():
        return False
    for column, value in expected.items():
        other = actual[column]
        if value is not other and not _same(value, other):
            return False
    return True


def _same(one: Value, other: Value) -> bool:
    if type(one) is type(other) and one == other:
        return True
    if isinstance(one, JsonText) or isinstance(other, JsonText):
        return isinstance(one, str) and isinstance(other, str) and _loads(one) == _loads(other)
    return False


def _loads(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return _NOT_JSON


def _cell(row: _Fields | None, column: str) -> str:
    if row is None:
        return ""
    return repr(row[column]) if column in row else "(no such column)"


def _cut(expected: str, actual: str) -> tuple[str, str]:
    """Both cells short enough to print, beginning where they begin to differ."""
    alike = 0
    while expected[: alike + 1] == actual[: alike + 1]:
        alike += 1
    start = alike - _LEAD if alike > _WIDEST - _LEAD else 0
    return _window(expected, start), _window(actual, start)


def _window(cell: str, start: int) -> str:
    rest = ("…" if start else "") + cell[start:]
    return rest if len(rest) <= _WIDEST else rest[: _WIDEST - 1] + "…"


def _order(row_id: str) -> list[tuple[bool, int, str]]:
    """Parts of an id compare as numbers where they are numbers."""
    return [
        (False, int(part), "") if part.isdecimal() else (True, 0, part)
        for part in row_id.split(":")
    ]


def _aligned(lines: list[_Line]) -> list[str]:
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADER))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
