"""A window of a view with some columns, and the tickets of those who look at it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from evergrid.gateway.engine.deliveries import Ticket
from evergrid.gateway.engine.publication import WindowPublication, put_together, record_batch
from evergrid.model.table import Column
from evergrid.protocol.frames import Header, Kind
from evergrid.store.growing import Slots
from evergrid.store.table import TableStore
from evergrid.views.difference import difference
from evergrid.views.query import Window
from evergrid.views.view import View

# A difference that sends most rows anew is no smaller than the window.
_LARGEST_DIFFERENCE = 0.6
# When only the number of rows in the view changes, nobody needs to know it at once.
_TOTAL_SECONDS = 0.5


class Moment(msgspec.Struct, frozen=True):
    """Of what a state is: the sequence it gets, the store's tick, and the times."""

    sequence: int
    tick: int
    now: float
    wall: int


class Pane:
    """Keeps the newest state of its window as a publication."""

    def __init__(self, columns: Sequence[str], window: Window) -> None:
        self._wanted = tuple(columns)
        self.window = window
        self.tickets: dict[Ticket, None] = {}
        self.idle_since: float | None = None
        self.publication: WindowPublication | None = None
        self.late = False  # only the total has changed, and it was told a moment ago
        self._store: TableStore | None = None
        self._slots: Slots = np.empty(0, np.int64)
        self._tick = 0
        self._told_at = 0.0

    def refresh(
        self, store: TableStore, view: View, generation: int, moment: Moment
    ) -> WindowPublication | None:
        """A new publication if the window is not as it was."""
        total = len(view)
        start = self.window.start(total)
        slots = view.between(start, start + self.window.limit)
        same_store = store is self._store
        before = self.publication if same_store else None
        unchanged = store.stamps(slots) <= self._tick
        self.late = False
        if before is not None and np.array_equal(slots, self._slots) and unchanged.all():
            header = before.header
            if header.total == total and header.offset == start:
                return None
            if moment.now - self._told_at < _TOTAL_SECONDS:
                self.late = True
                return None
        columns = self._columns(store)
        names = [column.name for column in columns]
        change = difference(self._slots, slots, unchanged) if before is not None else None
        if before is None or change is None:
            rows, sent = record_batch(store, slots, names), None
        else:
            sent = (
                record_batch(store, slots[change.sent], names)
                if len(change.sent)
                else before.rows.slice(0, 0)
            )
            rows = put_together(before.rows, sent, change)
        if change is not None and len(change.sent) > _LARGEST_DIFFERENCE * len(slots):
            change = None
        header = Header(
            kind=Kind.FULL if change is None else Kind.DIFFERENCE,
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
        self._told_at = moment.now
        return self.publication

    def is_of_another(self, store: TableStore) -> bool:
        """Whether there is a state, and it is not of this store."""
        return self._store is not None and self._store is not store

    def forget(self) -> None:
        """Begin anew: whoever looks when there are rows again gets them all."""
        self.publication = self._store = None

    def _columns(self, store: TableStore) -> tuple[Column, ...]:
        """Those that were asked for and are there; all when none were named."""
        by_name = {column.name: column for column in store.table.columns}
        if not self._wanted:
            return store.table.columns
        return tuple(by_name[name] for name in self._wanted if name in by_name)
