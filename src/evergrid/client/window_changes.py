"""The changes of rows between two states of a window, by row id. Values in, values out."""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from evergrid.protocol.frames import ID_COLUMN

Row = dict[str, object]


class ChangeKind(enum.Enum):
    ADDED = "added"
    UPDATED = "updated"
    REMOVED = "removed"


class Change(msgspec.Struct, frozen=True):
    """A row that entered a window, changed in it, or left it; `row` is None when it left.

    A row that only moved to another position has not changed.
    """

    kind: ChangeKind
    id: str
    row: Row | None = None


def changes_between(before: pa.Table | None, after: pa.Table) -> Iterator[Change]:
    """The changes from one state to the other: removed rows, then the rest from top to bottom."""
    old = _positions(before)
    new = _positions(after)
    for row_id in old:
        if row_id not in new:
            yield Change(ChangeKind.REMOVED, row_id)
    changed = _changed(before, after, old, new)
    shown = [row_id for row_id in new if row_id not in old or row_id in changed]
    rows = _rows(after, [new[row_id] for row_id in shown]).drop_columns([ID_COLUMN]).to_pylist()
    for row_id, row in zip(shown, rows, strict=True):
        kind = ChangeKind.UPDATED if row_id in old else ChangeKind.ADDED
        yield Change(kind, row_id, row)


def _positions(rows: pa.Table | None) -> dict[str, int]:
    if rows is None:
        return {}
    return {row_id: position for position, row_id in enumerate(rows[ID_COLUMN].to_pylist())}


def _rows(table: pa.Table, positions: list[int]) -> pa.Table:
    return table.take(pa.array(positions, pa.int64())).combine_chunks()


def _changed(
    before: pa.Table | None, after: pa.Table, old: dict[str, int], new: dict[str, int]
) -> set[str]:
    """Ids of the rows in both states whose values differ; all of them if the schema changed."""
    common = [row_id for row_id in new if row_id in old]
    if before is None or not common:
        return set()
    if not before.schema.equals(after.schema):
        return set(common)
    left = _rows(before, [old[row_id] for row_id in common])
    right = _rows(after, [new[row_id] for row_id in common])
    columns = (_same(left[name], right[name]) for name in after.schema.names)
    same = functools.reduce(pc.and_, columns).to_pylist()
    return {row_id for row_id, equal in zip(common, same, strict=True) if not equal}


def _same(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether values are equal, one by one; null equals null, and NaN equals NaN."""
    empty = pc.and_(pc.is_null(left), pc.is_null(right))
    same = pc.or_(pc.fill_null(pc.equal(left, right), False), empty)
    if pa.types.is_floating(left.type):
        both_nan = pc.and_(pc.is_nan(left), pc.is_nan(right))
        same = pc.or_(same, pc.fill_null(both_nan, False))
    return same
