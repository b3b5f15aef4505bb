"""A view: the rows of a table that pass a filter and a search, in an order.

It is built in pieces and then follows the table: the cost of a change depends on the size of
the change, not of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evergrid.model.table import Table
from evergrid.store.growing_array import Mask, Slots
from evergrid.store.ordered_rows import OrderedRows
from evergrid.store.rows import Rows
from evergrid.store.sort_keys import Order, Term
from evergrid.store.table_store import TableStore
from evergrid.views.predicate import (
    Predicate,
    check_columns,
    filter_predicate,
    search_predicate,
)
from evergrid.views.view_query import Fault, Filter, Nulls, OrderBy, QueryError

MAX_ORDER_COLUMNS = 16
_PIECE = 32_768
_SAMPLE = 16_384


class View:
    """Rows in order. `grow` until it is `complete`; `update` with every change of the table."""

    def __init__(
        self, store: TableStore, wanted: Filter | None, search: str, order: Sequence[OrderBy]
    ) -> None:
        self._store = store
        self._what = (wanted, search)  # views that ask for the same rows look once
        self._passes = predicate(store.table, wanted, search)
        self._order = Order(terms(order, store.table), store.table)
        self._rows = OrderedRows(lambda slots: self._order.keys(store.rows(slots)))
        self._rows.reserve(store.capacity)
        self._seen = 0  # slots below it are in; those above come when the view has grown
        self._foresee()

    @property
    def complete(self) -> bool:
        return self._seen >= self._store.end

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def __len__(self) -> int:
        return len(self._rows)

    def grow(self) -> None:
        """Add another piece of the table."""
        start, self._seen = self._seen, min(self._seen + _PIECE, self._store.end)
        self._put(self._store.rows(self._store.slots(start, self._seen)))

    def update(self, changed: Rows, removed: Slots) -> None:
        """Apply a change of the table; `changed` are the rows as they are now."""
        self._rows.reserve(self._store.capacity)
        self._rows.remove(removed)
        if self.complete_before(changed):
            self._seen = self._store.end
            self._put(changed)
        else:
            known = changed.slots < self._seen
            self._put(self._store.rows(changed.slots[known]))

    def complete_before(self, changed: Rows) -> bool:
        """Whether this view has all rows except `changed`."""
        return self._seen + len(changed) >= self._store.end and bool(
            np.count_nonzero(changed.slots >= self._seen) == self._store.end - self._seen
        )

    def between(self, start: int, stop: int) -> Slots:
        """The slots of the rows from rank `start` up to `stop`."""
        return self._rows.between(start, stop)

    def walk(self, start: int, stop: int) -> Iterator[Slots]:
        """Like `between`, in pieces, for the rows that exist at the first piece."""
        return self._rows.walk(start, stop)

    def _put(self, rows: Rows) -> None:
        keys = self._order.keys(rows)
        if self._passes is None:
            self._rows.put(rows.slots, keys)
            return
        passing = rows.remembered(self._what, self._passing)
        if passing.all():
            self._rows.put(rows.slots, keys)
            return
        self._rows.remove(rows.slots[~passing])
        self._rows.put(rows.slots[passing], keys.take(passing))

    def _passing(self, rows: Rows, _what: object) -> Mask:
        assert self._passes is not None
        return self._passes(rows)

    def _foresee(self) -> None:
        """Sample some rows to choose the bounds of the buckets."""
        end = self._store.end
        step = max(1, end // _SAMPLE)
        slots = self._store.slots(0, end)[::step]
        if len(slots) < _SAMPLE // 4:
            return
        rows = self._store.rows(slots)
        keys = self._order.keys(rows)
        if self._passes is not None:
            keys = keys.take(self._passes(rows))
        self._rows.foresee(keys, len(keys) * step)


def predicate(table: Table, wanted: Filter | None, search: str) -> Predicate | None:
    """Filter and search combined; None if every row passes."""
    by_filter = filter_predicate(wanted, table) if wanted is not None else None
    by_search = search_predicate(search, table)
    if by_filter is None or by_search is None:
        return by_filter or by_search
    return lambda rows: by_filter(rows) & by_search(rows)


def terms(order: Sequence[OrderBy], table: Table) -> tuple[Term, ...]:
    """Convert an order for the store; QueryError if the table has no such column."""
    types = {column.name: column.type for column in table.columns}
    names = [by.column for by in order]
    check_columns(names, table)
    if len(set(names)) < len(names) or len(names) > MAX_ORDER_COLUMNS:
        raise QueryError(
            Fault.BAD_ORDER,
            f"an order by {len(names)} columns, each at most once and {MAX_ORDER_COLUMNS} in all",
        )
    return tuple(
        Term(by.column, types[by.column], by.descending, by.nulls is Nulls.FIRST) for by in order
    )
