"""One window of a view with some columns, shared by all its subscribers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa

from evergrid.gateway.engine.deliveries import SubscriberId
from evergrid.gateway.engine.publication import WindowPublication, apply_difference, record_batch
from evergrid.model.table import Column
from evergrid.protocol.frames import FrameKind, Header
from evergrid.store.growing_array import Slots
from evergrid.store.table_store import TableStore
from evergrid.views.view import View
from evergrid.views.view_query import Window
from evergrid.views.window_difference import Difference, difference

# A difference that sends most rows again is no smaller than the full window.
_LARGEST_DIFFERENCE = 0.6
# A change of the view's row count alone is published at most this often.
_TOTAL_SECONDS = 0.5


class PublicationTime(msgspec.Struct, frozen=True):
    """The moment of a publication: its sequence, the store's tick, and both clocks' times."""

    sequence: int
    tick: int
    now: float
    wall: int


class SharedWindow:
    """Keeps the newest publication of its window."""

    def __init__(self, columns: Sequence[str], window: Window) -> None:
        self._requested_columns = tuple(columns)
        self.window = window
        self.subscribers: dict[SubscriberId, None] = {}
        self.idle_since: float | None = None
        self.publication: WindowPublication | None = None
        self.late = False  # only the row count has changed, too soon after the last publication
        self._store: TableStore | None = None
        self._slots: Slots = np.empty(0, np.int64)
        self._tick = 0
        self._published_at = 0.0

    def refresh(
        self, store: TableStore, view: View, generation: int, moment: PublicationTime
    ) -> WindowPublication | None:
        """A new publication if the window has changed, else None."""
        total = len(view)
        start = self.window.start(total)
        slots = view.between(start, start + self.window.limit)
        before = self.publication_of(store, generation)
        unchanged = store.stamps(slots) <= self._tick
        self.late = False
        if before is not None and np.array_equal(slots, self._slots) and unchanged.all():
            header = before.header
            if header.total == total and header.offset == start:
                return None
            if moment.now - self._published_at < _TOTAL_SECONDS:
                self.late = True
                return None
        columns = self._columns(store)
        names = [column.name for column in columns]
        change = difference(self._slots, slots, unchanged) if before is not None else None
        rows, sent = _rows(store, slots, names, before, change)
        if change is not None and len(change.sent) > _LARGEST_DIFFERENCE * len(slots):
            change = None
        header = Header(
            kind=FrameKind.FULL if change is None else FrameKind.DIFFERENCE,
            sequence=moment.sequence,
            base=0 if change is None or before is None else before.sequence,
            generation=generation,
            total=total,
            offset=start,
            time=moment.wall,
            rows=len(slots),
        )
        self.publication = WindowPublication(self.window, header, columns, rows, change, sent)
        self._store, self._slots, self._tick = store, slots, moment.tick
        self._published_at = moment.now
        return self.publication

    def publication_of(self, store: TableStore, generation: int) -> WindowPublication | None:
        """The newest publication, if it is of this store and names this generation."""
        newest = self.publication if self._store is store else None
        return newest if newest and newest.header.generation == generation else None

    def forget(self) -> None:
        """Drop the publication, so that the next one is a full window."""
        self.publication = self._store = None

    def _columns(self, store: TableStore) -> tuple[Column, ...]:
        """The requested columns that exist; all columns if none were requested."""
        by_name = {column.name: column for column in store.table.columns}
        if not self._requested_columns:
            return store.table.columns
        return tuple(by_name[name] for name in self._requested_columns if name in by_name)


def _rows(
    store: TableStore,
    slots: Slots,
    names: Sequence[str],
    before: WindowPublication | None,
    change: Difference | None,
) -> tuple[pa.RecordBatch, pa.RecordBatch | None]:
    """The window's rows, and of those the rows that a difference sends."""
    if before is None or change is None:
        return record_batch(store, slots, names), None
    if len(change.sent):
        sent = record_batch(store, slots[change.sent], names)
    else:
        sent = before.rows.slice(0, 0)
    return apply_difference(before.rows, sent, change), sent
