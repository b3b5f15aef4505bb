"""The changes between two states of the newest rows of a table. Values in, values out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from evergrid.client import Change, ChangeKind
from evergrid.client.window_changes import changes_between
from evergrid.gateway.http.row_formats import cells
from evergrid.protocol.frames import ID_COLUMN


class NewestRows(msgspec.Struct, frozen=True):
    """The newest rows of a table, oldest first; `has_older`: the table has more before them."""

    rows: pa.Table
    has_older: bool

    @property
    def positions(self) -> dict[str, int]:
        return {row_id: place for place, row_id in enumerate(self.rows[ID_COLUMN].to_pylist())}


def row_diff(before: NewestRows, after: NewestRows) -> list[Change]:
    """The changes from one state to the next: deleted rows, then the others, oldest first.

    A row that leaves at the old end made room for a newer one, or retention dropped it: this is
    not a deletion. A row that is missing between others was deleted. Then an older row may enter
    at the old end, which is not new.
    """
    old, new = before.positions, after.positions
    kept = next((place for row_id, place in old.items() if row_id in new), len(old))
    # The first place in the new state that the state before covers.
    floor = new.get(next(iter(old), ""), 0) if before.has_older else 0
    changes = list(changes_between(_comparable(before.rows), _comparable(after.rows)))
    removed = [each for each in changes if each.kind is ChangeKind.REMOVED]
    kinds = {new[each.id]: each.kind for each in changes[len(removed) :] if new[each.id] >= floor}
    rows = after.rows.take(pa.array(kinds, pa.int64()))
    return [
        *(each for each in removed if old[each.id] > kept),
        *as_changes(rows, kinds.values()),
    ]


def some_missed(before: NewestRows, after: NewestRows) -> bool:
    """Whether more rows came than one state holds, so that some of them were never seen."""
    return after.has_older and before.positions.keys().isdisjoint(after.positions)


def newer_rows(before: NewestRows, after: NewestRows, time: str | None) -> pa.Table:
    """The rows of a new generation that are newer than those shown of the one before.

    `time` is the time column; the other rows are the same past once more.
    """
    rows = after.rows
    known = time is not None and before.rows.num_rows and time in before.rows.schema.names
    newest = pc.max(before.rows[time]) if known else None
    if newest is not None and newest.is_valid and newest.type == rows[time].type:
        rows = rows.filter(pc.greater(rows[time], newest))
    return rows


def as_changes(rows: pa.Table, kinds: Iterable[ChangeKind]) -> Iterator[Change]:
    """A change of its kind for each row, with values as in HTTP answers."""
    columns = [cells(column.combine_chunks()) for column in rows.columns]
    for kind, values in zip(kinds, zip(*columns, strict=True), strict=False):
        row = dict(zip(rows.schema.names, values, strict=True))
        yield Change(kind, row.pop(ID_COLUMN), row)


def _comparable(rows: pa.Table) -> pa.Table:
    """With times as numbers, because Python's datetime ends with the year 9999."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            rows = rows.set_column(index, field.name, rows[field.name].cast(pa.int64()))
    return rows
