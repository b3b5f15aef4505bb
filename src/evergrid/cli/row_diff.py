"""What is new between two looks at the newest rows of a table. Values in, values out."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from evergrid.client.changes import ChangeKind, between
from evergrid.protocol.frames import ID_COLUMN


class Mark(enum.Enum):
    """What happened to a row, as far as the looks show it."""

    NEW = "+"
    AGAIN = "~"
    GONE = "-"


class Look(msgspec.Struct, frozen=True):
    """The newest rows of a table, oldest first; `older` when there are more before them."""

    rows: pa.Table
    older: bool


class News(msgspec.Struct, frozen=True):
    """Ids of deleted rows, then rows with a mark each.

    `missed` when more came than a look holds, so that some of them were never seen.
    """

    gone: tuple[str, ...]
    marks: tuple[Mark, ...]
    rows: pa.Table
    missed: bool = False

    def __len__(self) -> int:
        return len(self.gone) + len(self.marks)

    def first(self, count: int) -> News:
        """As much of it as `count` changes."""
        rest = max(0, count - len(self.gone))
        return News(
            self.gone[:count], self.marks[:rest], self.rows.slice(0, rest), missed=self.missed
        )


def news(before: Look, after: Look) -> News:
    """What happened from one look to the next.

    Rows that leave at the old end only made room, or are too old to be kept. One that is
    missing between others was deleted, and then an older row may come in at the old end: it
    was there before, and is not told either.
    """
    old, new = _places(before.rows), _places(after.rows)
    kept = next((place for row_id, place in old.items() if row_id in new), None)
    changes = list(between(_comparable(before.rows), _comparable(after.rows)))
    gone = (change.id for change in changes if change.kind is ChangeKind.REMOVED)
    floor = _floor(before, new)
    marked = {
        new[change.id]: Mark.AGAIN if change.kind is ChangeKind.UPDATED else Mark.NEW
        for change in changes
        if change.kind is not ChangeKind.REMOVED and new[change.id] >= floor
    }
    return News(
        gone=tuple(row_id for row_id in gone if kept is not None and old[row_id] > kept),
        marks=tuple(marked.values()),
        rows=_taken(after.rows, marked),
        missed=kept is None and after.older,
    )


def newer(before: Look, after: Look, time: str | None) -> News:
    """What a table that took another's place has beyond it, by the column that tells the time.

    Its other rows are the past anew, and who follows a table has had that.
    """
    rows = after.rows
    known = time is not None and before.rows.num_rows and time in before.rows.schema.names
    newest = pc.max(before.rows[time]) if known else None
    if newest is not None and newest.is_valid and newest.type == rows[time].type:
        rows = rows.filter(pc.greater(rows[time], newest))
    return all_new(rows)


def all_new(rows: pa.Table) -> News:
    return News((), (Mark.NEW,) * rows.num_rows, rows)


def _floor(before: Look, new: dict[str, int]) -> int:
    """The first place in the new look that the look before would have shown."""
    if not before.older or not before.rows.num_rows:
        return 0
    return new.get(before.rows[ID_COLUMN][0].as_py(), 0)


def _places(rows: pa.Table) -> dict[str, int]:
    return {row_id: place for place, row_id in enumerate(rows[ID_COLUMN].to_pylist())}


def _taken(rows: pa.Table, places: Iterable[int]) -> pa.Table:
    return rows.take(pa.array(places, pa.int64()))


def _comparable(rows: pa.Table) -> pa.Table:
    """Times as numbers: Python's own end with the year 9999."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            rows = rows.set_column(index, field.name, rows[field.name].cast(pa.int64()))
    return rows
