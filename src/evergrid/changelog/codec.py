"""Decodes the changes of a changelog, row by row; the engine's Java encodes them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.model.errors import BrokenPromise
from evergrid.model.table import Table

Value = str | int | float | bool | None
Row = Mapping[str, Value]


class Change(msgspec.Struct, frozen=True):
    """The upsert of a row, or its deletion when `row` is None."""

    row_id: str
    row: Row | None


_rows = msgspec.json.Decoder(dict[str, Value])


def decode(key: bytes | None, value: bytes | None) -> Change:
    """The change in a message of a changelog."""
    if key is None:
        raise BrokenPromise("changelog message without a key")
    return Change(key.decode(), None if value is None else _rows.decode(value))


def is_older(row: Row, than: Row, table: Table) -> bool:
    """Whether `row` has an older version than the row `than` with the same id.

    A replay after a crash sends such rows, which must not replace newer ones.
    """
    return _version(row, table) < _version(than, table)


def _version(row: Row, table: Table) -> tuple[tuple[bool, int], ...]:
    """A key for comparison; null is lowest."""
    parts = [row.get(name) for name in table.version]
    return tuple((part is not None, int(part) if part is not None else 0) for part in parts)
