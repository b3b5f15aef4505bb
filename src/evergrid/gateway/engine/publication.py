"""The rows of a window at one moment, as frames that are encoded once for all subscribers."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evergrid.model.table import Column
from evergrid.protocol.frames import ID_COLUMN, Description, FrameKind, Header, encode_shared
from evergrid.store.growing_array import Slots
from evergrid.store.table_store import TableStore
from evergrid.views.view_query import Window
from evergrid.views.window_difference import Difference

_PART_BYTES = 24  # a row that stands alone in a difference: [start,count],
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def record_batch(store: TableStore, slots: Slots, names: Sequence[str]) -> pa.RecordBatch:
    """The current rows at these slots, with their ids."""
    ids = pa.array(store.row_ids(slots), pa.string())
    return pa.RecordBatch.from_arrays([ids, *store.take(slots, names)], [ID_COLUMN, *names])


def fixed_bytes(names: Sequence[str]) -> int:
    """At most so many bytes has a frame of these columns besides its rows."""
    return 2048 + sum(512 + 16 * len(name) for name in names)


def row_bytes(store: TableStore, slots: Slots, names: Sequence[str]) -> NDArray[np.int64]:
    """At most so many bytes has each row in a frame, in a full window or a difference."""
    return store.row_bytes(slots, names) + _PART_BYTES


def apply_difference(
    before: pa.RecordBatch, sent: pa.RecordBatch, change: Difference
) -> pa.RecordBatch:
    """The window after `change`: kept rows come from `before`, the others from `sent`."""
    if not sent.num_rows and change.parts == ((0, before.num_rows),):
        return before
    source = change.source.copy()
    source[change.sent] = before.num_rows + np.arange(sent.num_rows)
    return pa.concat_batches([before, sent]).take(pa.array(source))


class WindowPublication:
    """The rows of one window at one moment, as frames without their first four bytes.

    `difference` leads from the publication with sequence `base` to this one; it is None when a
    full window is smaller or there was no publication before. No frame has more than
    `most_bytes`.
    """

    def __init__(
        self,
        window: Window,
        header: Header,
        columns: tuple[Column, ...],
        rows: pa.RecordBatch,
        change: Difference | None,
        sent: pa.RecordBatch | None,
        most_bytes: int,
    ) -> None:
        self.window = window
        self.header = header
        self.sequence = header.sequence
        self.base = header.base
        self._columns = columns
        self.rows = rows
        self.most_bytes = most_bytes
        self._full: bytes | None = None
        self._lock = threading.Lock()
        self.difference: bytes | None = None
        if change is not None and sent is not None:
            body = sent.serialize().to_pybytes() + _END_OF_STREAM
            self.difference = encode_shared(header, Description(parts=change.parts), body)

    def full(self) -> bytes:
        """The full window, encoded on first use; any thread may ask."""
        with self._lock:
            if self._full is None:
                whole = msgspec.structs.replace(self.header, kind=FrameKind.FULL, base=0)
                schema = self.rows.schema.serialize().to_pybytes()
                body = schema + self.rows.serialize().to_pybytes() + _END_OF_STREAM
                self._full = encode_shared(whole, Description(columns=self._columns), body)
            return self._full
