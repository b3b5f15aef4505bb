"""All rows of a query, in order, batch by batch, while the table goes on changing.

Every row that is there at the start and stays comes exactly once, as it is when it is
sent; rows that go meanwhile are left out, and rows that come meanwhile are not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from evergrid.gateway.publication import record_batch
from evergrid.store.table import TableStore
from evergrid.views.predicate import unknown_column
from evergrid.views.query import Query, Window
from evergrid.views.view import View

BATCH = 10_000


class Export:
    """`step` until it gives a batch, and on until it gives None twice: each call is a short job."""

    def __init__(self, store: TableStore, query: Query, window: Window | None, tick: int) -> None:
        self._store = store
        self._names = _columns(store, query.columns)
        self._view = View(store, query.filter, query.search, query.order)
        self._window = window
        self._tick = tick
        self._walk: Iterator[pa.RecordBatch] | None = None
        self.total: int | None = None  # rows in the whole view, once that is known

    @property
    def view(self) -> View:
        """To be told of changes while it is being made."""
        return self._view

    @property
    def prepared(self) -> bool:
        return self._walk is not None

    def prepare(self) -> None:
        """Take in another piece of the table."""
        if not self._view.complete:
            self._view.grow()
        if self._view.complete:
            self.total = len(self._view)
            self._walk = self._batches()

    def step(self) -> pa.RecordBatch | None:
        """The next batch; None at the end."""
        assert self._walk is not None
        return next(self._walk, None)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        start, stop = self._bounds()
        yield record_batch(self._store, self._view.between(0, 0), self._names)
        if stop - start <= BATCH:
            yield record_batch(self._store, self._view.between(start, stop), self._names)
            return
        for slots in self._view.walk(start, stop):
            kept = slots[self._store.present_since(slots, self._tick)]
            for at in range(0, len(kept), BATCH):
                yield record_batch(self._store, kept[at : at + BATCH], self._names)

    def _bounds(self) -> tuple[int, int]:
        total = len(self._view)
        if self._window is None:
            return 0, total
        offset = self._window.offset
        start = offset if offset >= 0 else max(0, total + offset)
        return start, min(total, start + self._window.limit)


def _columns(store: TableStore, wanted: Sequence[str]) -> Sequence[str]:
    known = [column.name for column in store.table.columns]
    for name in wanted:
        if name not in known:
            raise unknown_column(name, known)
    return wanted or known
