"""One window as its frames leave it. Values in, values out."""

from __future__ import annotations

from itertools import chain

import msgspec
import pyarrow as pa

from evergrid.model.errors import BrokenPromise
from evergrid.model.table import Column
from evergrid.protocol.frames import ID_COLUMN, Frame, Header, Kind


class Picture(msgspec.Struct, frozen=True):
    """The rows of a window, from top to bottom, and what the last frame said about them."""

    rows: pa.Table
    columns: tuple[Column, ...]
    header: Header

    @property
    def sequence(self) -> int:
        return self.header.sequence


def painted(before: Picture | None, frame: Frame, *, floor: int = 0) -> Picture:
    """The picture after `frame`; BrokenPromise when the frame does not fit what is there.

    `floor` is a sequence below which nothing may come: a window must not show an older state
    after a newer one.
    """
    header = frame.header
    if header.sequence < floor:
        raise BrokenPromise(f"state {header.sequence} of a window came after state {floor}")
    if header.kind is Kind.FULL:
        rows = _read(frame, None)
        return Picture(_fitting(rows, header), frame.description.columns, header)
    if before is None or before.sequence != header.base:
        have = "nothing" if before is None else f"state {before.sequence}"
        raise BrokenPromise(f"a difference starts from state {header.base}, but there is {have}")
    fresh = _read(frame, before.rows.schema)
    rows = _put_together(before.rows, fresh, frame.description.parts)
    return Picture(_fitting(rows, header), before.columns, header)


def _read(frame: Frame, schema: pa.Schema | None) -> pa.Table:
    """The rows of a body. A difference may leave its schema out: it is that of its window."""
    batches: list[pa.RecordBatch] = []
    try:
        for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(frame.body)):
            if message.type == "schema":
                said = pa.ipc.read_schema(message)
                if schema is not None and not said.equals(schema):
                    raise BrokenPromise("a difference has other columns than its window")
                schema = said
            else:
                batches.append(pa.ipc.read_record_batch(message, schema))
        return pa.Table.from_batches(batches, schema)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise BrokenPromise(f"a frame's body is no Arrow stream ({error})") from None


def _fitting(rows: pa.Table, header: Header) -> pa.Table:
    if ID_COLUMN not in rows.schema.names:
        raise BrokenPromise(f"a window came without {ID_COLUMN}")
    if rows.num_rows != header.rows:
        raise BrokenPromise(f"a frame says {header.rows} rows and has {rows.num_rows}")
    return rows


def _put_together(
    before: pa.Table, fresh: pa.Table, parts: tuple[tuple[int, int], ...]
) -> pa.Table:
    """The new window: kept rows from `before` and `fresh` ones, as `parts` say.

    Taken out into one piece: kept as slices, a window that lives for days would end as
    thousands of crumbs.
    """
    held = before.num_rows
    spans: list[range] = []
    used = 0
    for start, count in parts:
        if count < 0 or start < -1 or (start >= 0 and start + count > held):
            raise BrokenPromise(f"a difference takes {count} rows from {start} of {held}")
        first = held + used if start < 0 else start
        used += count if start < 0 else 0
        spans.append(range(first, first + count))
    if used != fresh.num_rows:
        raise BrokenPromise(f"a difference brings {fresh.num_rows} rows and uses {used}")
    chosen = pa.array(chain.from_iterable(spans), pa.int64())
    return pa.concat_tables([before, fresh]).take(chosen).combine_chunks()
