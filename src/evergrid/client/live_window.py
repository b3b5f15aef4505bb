"""The state of a live window after each frame, and the changes between two states. No I/O."""

from __future__ import annotations

import datetime
import enum
import functools
from collections.abc import Iterator
from itertools import chain

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from evergrid.model.errors import BrokenPromise
from evergrid.model.table import Column
from evergrid.protocol.frames import ID_COLUMN, Frame, FrameKind
from evergrid.protocol.messages import Live

Row = dict[str, object]

_EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)


class LiveWindow(msgspec.Struct, frozen=True):
    """A window at one moment.

    rows         with the row id as first column `_id`; without columns before the first frame
    columns      name, type and role of the other columns
    total        number of rows of the whole view; `rows` are those from `offset` on
    generation   of the pipeline that made the rows; 0 for tables without generations
    sequence     number of this state; 0 before the first frame
    time         when the gateway took this state
    state        `live`, `stale`, `loading`, or `waiting` for a table that does not exist yet
    message      the state as a sentence; while live, which rows may be missing, or empty
    stale_since  while stale: when the rows were last known to be up to date
    """

    table: str
    rows: pa.Table = msgspec.field(default_factory=lambda: pa.table({}))
    columns: tuple[Column, ...] = ()
    total: int = 0
    offset: int = 0
    generation: int = 0
    sequence: int = 0
    time: datetime.datetime | None = None
    state: Live = Live.LOADING
    message: str = "The gateway has not answered yet."
    stale_since: datetime.datetime | None = None

    @property
    def live(self) -> bool:
        return self.state is Live.LIVE


def moment(microseconds: int) -> datetime.datetime | None:
    """The time of so many microseconds since the epoch; None for 0, which means no time."""
    return _EPOCH + datetime.timedelta(microseconds=microseconds) if microseconds else None


def apply_frame(before: LiveWindow, frame: Frame, *, floor: int = 0) -> LiveWindow:
    """The state after `frame`; BrokenPromise if the frame does not fit the state before.

    `floor` is the lowest sequence number that is accepted, because a window must not show an
    older state after a newer one.
    """
    header = frame.header
    if header.sequence < floor:
        raise BrokenPromise(f"frame out of order: state {header.sequence} came after state {floor}")
    if header.kind is FrameKind.FULL:
        rows, columns = _read(frame, None), frame.description.columns
    elif before.sequence == header.base:
        fresh = _read(frame, before.rows.schema)
        rows = _combined(before.rows, fresh, frame.description.parts)
        columns = before.columns
    else:
        have = f"state {before.sequence}" if before.sequence else "none"
        raise BrokenPromise(f"difference from state {header.base}, but the client has {have}")
    if ID_COLUMN not in rows.schema.names:
        raise BrokenPromise(f"frame without the column {ID_COLUMN}")
    if rows.num_rows != header.rows:
        raise BrokenPromise(f"frame with {rows.num_rows} rows, but its header says {header.rows}")
    return msgspec.structs.replace(
        before,
        rows=rows,
        columns=columns,
        total=header.total,
        offset=header.offset,
        generation=header.generation,
        sequence=header.sequence,
        time=moment(header.time),
    )


def _read(frame: Frame, schema: pa.Schema | None) -> pa.Table:
    """The rows in a frame's body. A difference may omit the schema of its window."""
    batches: list[pa.RecordBatch] = []
    try:
        for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(frame.body)):
            if message.type == "schema":
                sent = pa.ipc.read_schema(message)
                if schema is not None and not sent.equals(schema):
                    raise BrokenPromise("difference with other columns than its window")
                schema = sent
            else:
                batches.append(pa.ipc.read_record_batch(message, schema))
        return pa.Table.from_batches(batches, schema)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise BrokenPromise(f"frame without a valid Arrow stream ({error})") from None


def _combined(before: pa.Table, fresh: pa.Table, parts: tuple[tuple[int, int], ...]) -> pa.Table:
    """The new rows: some of `before` and all `fresh` ones, in the order of `parts`.

    They are copied into one chunk, because slices would add up to thousands over days.
    """
    held = before.num_rows
    spans: list[range] = []
    used = 0
    for start, count in parts:
        if count < 0 or start < -1 or (start >= 0 and start + count > held):
            raise BrokenPromise(
                f"difference with {count} rows from {start}, but the window has {held}"
            )
        first = held + used if start < 0 else start
        used += count if start < 0 else 0
        spans.append(range(first, first + count))
    if used != fresh.num_rows:
        raise BrokenPromise(f"difference with {fresh.num_rows} new rows, of which it uses {used}")
    chosen = pa.array(chain.from_iterable(spans), pa.int64())
    return pa.concat_tables([before, fresh]).take(chosen).combine_chunks()


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
