"""The state of a live window: its rows after each frame, and how fresh they are. No I/O."""

from __future__ import annotations

import datetime
from itertools import chain

import msgspec
import pyarrow as pa

from evergrid.model.errors import BrokenPromise
from evergrid.model.table import Column
from evergrid.protocol.frames import ID_COLUMN, Frame, FrameKind
from evergrid.protocol.messages import Live

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
