"""Exports all rows of a query, in order and in batches, while the table keeps changing.

Every row that exists from the start to the end of the export is included exactly once, with the
values that it has when it is sent. Rows deleted meanwhile may be missing; rows added meanwhile
are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import pyarrow as pa

from evergrid.gateway.engine.publication import record_batch
from evergrid.store.growing_array import Slots
from evergrid.store.rows import Rows
from evergrid.store.table_store import TableStore
from evergrid.views.predicate import check_columns
from evergrid.views.view import View
from evergrid.views.view_query import Query, Window

BATCH = 10_000
BATCH_BYTES = 4 * 2**20  # fewer rows at once where they are wider than this together
TOTAL = "total"  # in the metadata of the first batch's schema: rows in the whole view
_NO_SLOTS: Slots = np.empty(0, np.int64)


class Export:
    """Call `prepare` until `prepared`, then `step` until it returns None; each call is short.

    The first batch is empty: it announces the columns before the rows.
    """

    def __init__(self, store: TableStore, query: Query, window: Window | None, tick: int) -> None:
        self._store = store
        check_columns(query.columns, store.table)
        self._names = query.columns or [column.name for column in store.table.columns]
        self._view = View(store, query.filter, query.search, query.order)
        self._window = window
        self._tick = tick
        self._walk: Iterator[pa.RecordBatch] | None = None

    @property
    def prepared(self) -> bool:
        return self._walk is not None

    def update(self, store: TableStore, changed: Rows, removed: Slots) -> None:
        """Apply a change of the table while the view is being built."""
        if store is self._store and not self.prepared:
            self._view.update(changed, removed)

    def prepare(self) -> None:
        """Add another piece of the table to the view."""
        if not self._view.complete:
            self._view.grow()
        if not self._view.complete:
            return
        start, stop = self._bounds()
        rows: Iterable[pa.RecordBatch] = self._pieces()
        if stop - start <= BATCH:
            slots = self._view.between(start, stop)
            if self._store.row_bytes(slots, self._names).sum() <= BATCH_BYTES:
                rows = [self._taken(slots)]  # read at once: one consistent moment
        empty = self._taken(_NO_SLOTS).replace_schema_metadata({TOTAL: str(len(self._view))})
        self._walk = chain([empty], rows)

    def step(self) -> pa.RecordBatch | None:
        """The next batch; None at the end."""
        assert self._walk is not None
        return next(self._walk, None)

    def _pieces(self) -> Iterator[pa.RecordBatch]:
        for slots in self._view.walk(*self._bounds()):
            at = 0
            while at < len(slots):
                piece = slots[at : at + BATCH]
                sums = np.cumsum(self._store.row_bytes(piece, self._names))
                fits = max(1, int(np.searchsorted(sums, BATCH_BYTES, side="right")))
                piece, at = piece[:fits], at + fits
                yield self._taken(piece[self._store.present_since(piece, self._tick)])

    def _taken(self, slots: Slots) -> pa.RecordBatch:
        return record_batch(self._store, slots, self._names)

    def _bounds(self) -> tuple[int, int]:
        total = len(self._view)
        if self._window is None:
            return 0, total
        start = self._window.start(total)
        return start, min(total, start + self._window.limit)
