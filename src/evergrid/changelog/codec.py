"""Changes as bytes, for whoever reads a changelog row by row.

The Spark side that writes them is `evergrid.pipeline.changes`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.model.errors import BrokenPromise
from evergrid.model.table import Table

Value = str | int | float | bool | None
Row = Mapping[str, Value]


class Change(msgspec.Struct, frozen=True):
    """One upsert of a row id, or its deletion when there is no row."""

    row_id: str
    row: Row | None


_rows = msgspec.json.Decoder(dict[str, Value])


def decode(key: bytes | None, value: bytes | None) -> Change:
    """The change that a changelog's message carries."""
    if key is None:
        raise BrokenPromise("a changelog holds a message without a key")
    return Change(key.decode(), None if value is None else _rows.decode(value))


def is_older(row: Row, than: Row, table: Table) -> bool:
    """Whether `row` was made with an older match than the row with the same id we have.

    A replay after a crash sends such rows; showing them would go back in time.
    """
    return _version(row, table) < _version(than, table)


def _version(row: Row, table: Table) -> tuple[tuple[bool, int], ...]:
    """Comparable, null lowest."""
    parts = [row.get(name) for name in table.version]
    return tuple((part is not None, int(part) if part is not None else 0) for part in parts)
