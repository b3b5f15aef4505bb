"""A naive table and its windows: what store, views and hub must show, including the order.

Plain Python over lists and dictionaries that looks at every row and sorts everything anew
each time. Beyond the words for tables and queries it shares no code with what it judges, so
that one mistake cannot hide itself by being made twice. Clear and slow is right here.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any

from evergrid.model.field_types import ColumnKind
from evergrid.model.table import ID_SEPARATOR, Table
from evergrid.views.view_query import Filter, Nulls, Op, OrderBy, Query, Scalar, Window

# Texts, numbers and booleans as they are, decimals exact, times in microseconds since 1970.
Value = str | int | float | bool | Decimal | None
Row = Mapping[str, Value]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


class NaiveTable:
    """The rows of a table by their ids."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.rows: dict[str, Row] = {}
        self._kinds = {column.name: column.type.kind for column in table.columns}

    def row_id(self, row: Row) -> str:
        return ID_SEPARATOR.join(str(row[name]) for name in self.table.row_id)

    def upsert(self, rows: Sequence[Row]) -> None:
        """One after the other; a row older than the one that is there is left out."""
        for row in rows:
            row_id = self.row_id(row)
            known = self.rows.get(row_id)
            if known is None or self._version(row) >= self._version(known):
                self.rows[row_id] = row

    def delete(self, ids: Sequence[str]) -> None:
        for row_id in ids:
            self.rows.pop(row_id, None)

    def expire(self, now: int) -> None:
        """Keep the newest rows, and none that is too old; `now` in microseconds."""
        retention = self.table.retention
        newest = self.ordered(())
        if retention.rows is not None:
            newest = newest[max(0, len(newest) - retention.rows) :]
        if retention.age_seconds is not None:
            limit = now - retention.age_seconds * 1_000_000
            newest = [row for row in newest if _number(row[self.table.order[0]]) >= limit]
        self.rows = {self.row_id(row): row for row in newest}

    def drop_oldest(self, count: int) -> None:
        """What a cap on memory does: it says how many, this says which."""
        for row in self.ordered(())[:count]:
            del self.rows[self.row_id(row)]

    def ordered(self, order: Sequence[OrderBy]) -> list[Row]:
        """All rows, by `order` and then by the table's own."""
        terms = [*order, *(OrderBy(name) for name in self.table.order)]
        rows = list(self.rows.values())
        for term in reversed(terms):  # a later sort keeps the order of what it finds equal
            rows = _sorted(rows, term)
        return rows

    def view(self, query: Query) -> list[Row]:
        """The rows that pass filter and search, in order."""
        return [
            row
            for row in self.ordered(query.order)
            if self.passes(row, query.filter) and self._found(row, query.search)
        ]

    def window(self, query: Query, window: Window) -> tuple[int, list[Row]]:
        """Where the window begins in the view, and its rows."""
        rows = self.view(query)
        start = window.offset if window.offset >= 0 else max(0, len(rows) + window.offset)
        return start, rows[start : start + window.limit]

    def passes(self, row: Row, wanted: Filter | None) -> bool:
        if wanted is None:
            return True
        if wanted.all_of is not None:
            return all(self.passes(row, part) for part in wanted.all_of)
        if wanted.any_of is not None:
            return any(self.passes(row, part) for part in wanted.any_of)
        assert wanted.column is not None
        assert wanted.op is not None
        held = row[wanted.column]
        if wanted.op is Op.IS_NULL:
            return held is None
        if wanted.op is Op.NOT_NULL:
            return held is not None
        if held is None:
            return wanted.op is Op.NOT
        kind = self._kinds[wanted.column]
        given = wanted.value if isinstance(wanted.value, tuple) else (wanted.value,)
        values = [_comparable(value, kind) for value in given]
        if wanted.ignore_case:
            held, values = _lower(held), [_lower(value) for value in values]
        return _TESTS[wanted.op](_comparable(held, kind), values)

    def _found(self, row: Row, search: str) -> bool:
        texts = [_lower(value) for value in row.values() if isinstance(value, str)]
        return all(any(_lower(word) in text for text in texts) for word in search.split())

    def _version(self, row: Row) -> list[tuple[bool, Decimal]]:
        """Null is lowest."""
        parts = [row[name] for name in self.table.version]
        return [(part is not None, _number(part or 0)) for part in parts]


def _sorted(rows: list[Row], term: OrderBy) -> list[Row]:
    without = [row for row in rows if row[term.column] is None]
    with_value = [row for row in rows if row[term.column] is not None]
    with_value.sort(key=itemgetter(term.column), reverse=term.descending)
    return without + with_value if term.nulls is Nulls.FIRST else with_value + without


# Both sides are of one kind, so that Python's own operators do.
_TESTS: Mapping[Op, Callable[[Any, list[Any]], bool]] = {
    Op.EQUALS: lambda held, values: held == values[0],
    Op.NOT: lambda held, values: held != values[0],
    Op.IN: lambda held, values: held in values,
    Op.LESS: lambda held, values: held < values[0],
    Op.LESS_OR_EQUAL: lambda held, values: held <= values[0],
    Op.GREATER: lambda held, values: held > values[0],
    Op.GREATER_OR_EQUAL: lambda held, values: held >= values[0],
    Op.BETWEEN: lambda held, values: values[0] <= held <= values[1],
    Op.CONTAINS: lambda held, values: str(values[0]) in str(held),
    Op.STARTS_WITH: lambda held, values: str(held).startswith(str(values[0])),
}


def _comparable(value: Scalar | Decimal, kind: ColumnKind) -> str | float | Decimal:
    assert value is not None
    if kind is ColumnKind.TEXT:
        return str(value)
    if kind is ColumnKind.FLOAT:
        return float(value)
    if kind is ColumnKind.TIMESTAMP and isinstance(value, str):
        return Decimal((datetime.datetime.fromisoformat(value) - _EPOCH) // _MICROSECOND)
    return _number(value)


def _number(value: Value) -> Decimal:
    """The exact number; a float is the number as written."""
    return Decimal(int(value)) if isinstance(value, bool) else Decimal(str(value))


def _lower(value: Value) -> str:
    """Letter by letter, so that no letter becomes two."""
    return "".join(letter.lower()[0] for letter in str(value))
