"""The difference between two states of the newest rows of a table. Values in, values out."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from evergrid.client.window_changes import ChangeKind, changes_between
from evergrid.protocol.frames import ID_COLUMN


class RowChange(enum.Enum):
    """What happened to a row between the two states."""

    NEW = "+"
    UPDATED = "~"
    DELETED = "-"


class NewestRows(msgspec.Struct, frozen=True):
    """The newest rows of a table, oldest first; `has_older`: the table has more before them."""

    rows: pa.Table
    has_older: bool


class RowDiff(msgspec.Struct, frozen=True):
    """Ids of deleted rows, then rows with a mark each.

    `missed`: more rows came than one state holds, so that some of them were never seen.
    """

    deleted: tuple[str, ...]
    marks: tuple[RowChange, ...]
    rows: pa.Table
    missed: bool = False

    def __len__(self) -> int:
        return len(self.deleted) + len(self.marks)

    def first(self, count: int) -> RowDiff:
        """At most `count` changes of it."""
        rest = max(0, count - len(self.deleted))
        return RowDiff(
            self.deleted[:count], self.marks[:rest], self.rows.slice(0, rest), missed=self.missed
        )


def row_diff(before: NewestRows, after: NewestRows) -> RowDiff:
    """The changes from one state to the next.

    A row that leaves at the old end made room for a newer one, or retention dropped it: this is
    not a deletion. A row that is missing between others was deleted. Then an older row may enter
    at the old end, which is not new.
    """
    old, new = _positions(before.rows), _positions(after.rows)
    kept = next((position for row_id, position in old.items() if row_id in new), None)
    changes = list(changes_between(_comparable(before.rows), _comparable(after.rows)))
    removed = (change.id for change in changes if change.kind is ChangeKind.REMOVED)
    floor = _floor(before, new)
    marked = {
        new[change.id]: RowChange.UPDATED if change.kind is ChangeKind.UPDATED else RowChange.NEW
        for change in changes
        if change.kind is not ChangeKind.REMOVED and new[change.id] >= floor
    }
    return RowDiff(
        deleted=tuple(row_id for row_id in removed if kept is not None and old[row_id] > kept),
        marks=tuple(marked.values()),
        rows=_taken(after.rows, marked),
        missed=kept is None and after.has_older,
    )


def newer_rows(before: NewestRows, after: NewestRows, time: str | None) -> RowDiff:
    """The rows of a new generation that are newer than those shown of the one before.

    `time` is the time column; the other rows are the same past once more.
    """
    rows = after.rows
    known = time is not None and before.rows.num_rows and time in before.rows.schema.names
    newest = pc.max(before.rows[time]) if known else None
    if newest is not None and newest.is_valid and newest.type == rows[time].type:
        rows = rows.filter(pc.greater(rows[time], newest))
    return all_new(rows)


def all_new(rows: pa.Table) -> RowDiff:
    return RowDiff((), (RowChange.NEW,) * rows.num_rows, rows)


def _floor(before: NewestRows, new: dict[str, int]) -> int:
    """The first position in the new state that the state before covers."""
    if not before.has_older or not before.rows.num_rows:
        return 0
    return new.get(before.rows[ID_COLUMN][0].as_py(), 0)


def _positions(rows: pa.Table) -> dict[str, int]:
    return {row_id: position for position, row_id in enumerate(rows[ID_COLUMN].to_pylist())}


def _taken(rows: pa.Table, positions: Iterable[int]) -> pa.Table:
    return rows.take(pa.array(positions, pa.int64()))


def _comparable(rows: pa.Table) -> pa.Table:
    """With times as numbers, because Python's datetime ends with the year 9999."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            rows = rows.set_column(index, field.name, rows[field.name].cast(pa.int64()))
    return rows
