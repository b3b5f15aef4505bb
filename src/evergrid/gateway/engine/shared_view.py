"""One view with its windows, which are shared by all their subscribers.

The view follows its table from generation to generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
import pyarrow as pa

from evergrid.gateway.engine.deliveries import SubscriberId
from evergrid.gateway.engine.publication import (
    WindowPublication,
    apply_difference,
    fixed_bytes,
    record_batch,
    row_bytes,
)
from evergrid.gateway.engine.trace import trace_rows
from evergrid.model.errors import BrokenPromise
from evergrid.model.table import Column
from evergrid.protocol.frames import ID_COLUMN, FrameKind, Header
from evergrid.protocol.messages import WindowState
from evergrid.store.growing_array import Slots
from evergrid.store.rows import Rows
from evergrid.store.table_store import TableStore
from evergrid.views.view import View
from evergrid.views.view_query import Filter, OrderBy, Query, Window
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
    """Keeps the newest publication of its window.

    `most_bytes` is the limit of a frame: of rows that are wider together, only some are shown.
    `missing` counts the others. `counted`, `charged` and `refused` belong to `WindowBytes`: the
    bytes it counts for this window, the subscribers that get its rows, and those that do not.
    """

    def __init__(self, columns: Sequence[str], window: Window, most_bytes: int) -> None:
        self._requested_columns = tuple(columns)
        self.window = window
        self._most_bytes = most_bytes
        self.subscribers: dict[SubscriberId, None] = {}
        self.missing = 0
        self.counted = 0
        self.charged: dict[SubscriberId, None] = {}
        self.refused: dict[SubscriberId, WindowState] = {}
        self.idle_since: float | None = None
        self.publication: WindowPublication | None = None
        self.late = False  # only the row count has changed, too soon after the last publication
        self._store: TableStore | None = None
        self._asked: Slots = np.empty(0, np.int64)  # all rows of the window
        self._slots: Slots = self._asked  # those that are shown
        self._start = 0
        self._tick = 0
        self._published_at = 0.0

    def refresh(
        self,
        store: TableStore,
        view: View,
        generation: int,
        moment: PublicationTime,
        admit: Callable[[int], bool],
    ) -> WindowPublication | None:
        """A new publication if the window has changed, else None.

        `admit` is asked before it is built, with its bytes; without its consent there is none.
        """
        total = len(view)
        start = self.window.start(total)
        asked = view.between(start, start + self.window.limit)
        before = self.publication_of(store, generation)
        self.late = False
        if before is not None and self._is_unchanged(store, asked):
            if before.header.total == total and self._start == start:
                return None
            if moment.now - self._published_at < _TOTAL_SECONDS:
                self.late = True
                return None
        columns = self._columns(store)
        names = [column.name for column in columns]
        slots, size = self._fitting(store, asked, names)
        self.missing = len(asked) - len(slots)
        if not admit(size):
            self.forget()
            return None
        unchanged = store.stamps(slots) <= self._tick
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
            offset=start + (self.missing if self.window.offset < 0 else 0),
            time=moment.wall,
            rows=len(slots),
        )
        self.publication = WindowPublication(self.window, header, columns, rows, change, sent, size)
        trace_rows(
            "published",
            lambda: (rows if change is None or sent is None else sent)[ID_COLUMN].to_pylist(),
            table=store.table.name,
            generation=generation,
            sequence=moment.sequence,
        )
        self._store, self._slots, self._tick = store, slots, moment.tick
        self._asked, self._start, self._published_at = asked, start, moment.now
        return self.publication

    def _is_unchanged(self, store: TableStore, asked: Slots) -> bool:
        same = np.array_equal(asked, self._asked)
        return same and bool((store.stamps(asked) <= self._tick).all())

    def _fitting(self, store: TableStore, asked: Slots, names: Sequence[str]) -> tuple[Slots, int]:
        """The rows that a frame has room for, and the most bytes that it can have with them.

        They are the first ones; the last ones if the window counts from the end.
        """
        fixed = fixed_bytes(names)
        sizes = row_bytes(store, asked, names)
        whole = fixed + int(sizes.sum())
        if whole <= self._most_bytes:
            return asked, whole
        from_end = self.window.offset < 0
        sums = fixed + np.cumsum(sizes[::-1] if from_end else sizes)
        fits = int(np.searchsorted(sums, self._most_bytes, side="right"))
        size = int(sums[fits - 1]) if fits else fixed
        return (asked[len(asked) - fits :] if from_end else asked[:fits]), size

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


class ViewKey(msgspec.Struct, frozen=True):
    """Queries with equal keys share a view; the columns that they select may differ."""

    table: str
    filter: Filter | None
    search: str
    order: tuple[OrderBy, ...]

    @classmethod
    def of(cls, query: Query) -> ViewKey:
        return cls(
            table=query.table,
            filter=query.filter,
            search=" ".join(query.search.split()),
            order=query.order,
        )


WindowKey = tuple[tuple[str, ...], Window]


class _StoreView(msgspec.Struct, frozen=True):
    """The view over one store, which belongs to one generation."""

    store: TableStore
    generation: int
    view: View


class SharedView:
    """Shows the view of the table's current store while the view of the next one is built.

    `error` is set while the current table cannot answer this view's query.
    """

    def __init__(self, key: ViewKey) -> None:
        self.key = key
        self.windows: dict[WindowKey, SharedWindow] = {}
        self.idle_since: float | None = None
        self.keys: dict[str, int] = {}  # subscriptions by access key; 0: it was the last to leave
        self.dirty = False
        self.due = 0.0
        self.error: WindowState | None = None
        self._shown: _StoreView | None = None
        self._next: _StoreView | None = None

    @property
    def is_shown(self) -> bool:
        return self._shown is not None

    @property
    def is_building(self) -> bool:
        return self._next is not None

    @property
    def is_empty(self) -> bool:
        """Whether there is no view, neither shown nor being built."""
        return self._shown is None and self._next is None

    def subscribers(self) -> list[SubscriberId]:
        """The subscribers of all its windows."""
        return [one for window in self.windows.values() for one in window.subscribers]

    def unsubscribe(self, subscriber: SubscriberId, key: WindowKey, now: float) -> SharedWindow:
        """End a subscription to one of its windows, and note when that or all became idle."""
        window = self.windows[key]
        del window.subscribers[subscriber]
        if not window.subscribers:
            window.idle_since = now
        if not any(one.subscribers for one in self.windows.values()):
            self.idle_since = now
        return window

    def add_key(self, key: str) -> None:
        """Count a subscription of this access key."""
        self.keys = {name: count for name, count in self.keys.items() if count}
        self.keys[key] = self.keys.get(key, 0) + 1

    def remove_key(self, key: str) -> None:
        """End one; an idle view still counts for the key that was the last to leave."""
        self.keys[key] -= 1
        if not self.keys[key] and len(self.keys) > 1:
            del self.keys[key]

    def drop_idle_windows(self, limit: float) -> list[SharedWindow]:
        """Drop the windows that nobody has looked at since `limit`, and return them."""
        idle = [
            key
            for key, window in self.windows.items()
            if window.idle_since is not None and window.idle_since <= limit
        ]
        return [self.windows.pop(key) for key in idle]

    def shows(self, store: TableStore) -> bool:
        return self._shown is not None and self._shown.store is store

    def is_outdated(self, window: SharedWindow) -> bool:
        """Whether the window's newest publication is of an earlier generation, or was dropped."""
        shown = self._shown
        return shown is not None and window.publication_of(shown.store, shown.generation) is None

    @property
    def nbytes(self) -> int:
        return sum(one.view.nbytes for one in self._store_views())

    def rebase(self, store: TableStore, generation: int) -> None:
        """Build the view over another store; what is shown stays until that is complete.

        If generations share this very store, its view stays and only the generation's number
        changes: the windows are published in full once more.
        """
        if self._shown is not None and self._shown.store is store:
            self._shown = msgspec.structs.replace(self._shown, generation=generation)
            self._next = None
            self.dirty, self.due = True, 0.0
            for window in self.windows.values():
                window.forget()
        elif self._next is not None and self._next.store is store:
            self._next = msgspec.structs.replace(self._next, generation=generation)
        else:
            view = View(store, self.key.filter, self.key.search, self.key.order)
            self._next = _StoreView(store, generation, view)
        self.error = None

    def clear(self, error: WindowState | None = None) -> None:
        """Show nothing any more; `error` says why, if the table itself still exists."""
        self._shown = self._next = None
        self.error = error
        for window in self.windows.values():
            window.forget()

    def build(self) -> bool:
        """Build another piece of the next view; whether it is complete and shown now."""
        coming = self._next
        if coming is None:
            return False
        if not coming.view.complete:
            coming.view.grow()
        if not coming.view.complete:
            return False
        self._shown, self._next = coming, None
        self.dirty, self.due = True, 0.0
        for window in self.windows.values():
            if not window.subscribers:
                window.forget()  # or it would keep the old store in memory while it lingers
        return True

    def update(self, store: TableStore, changed: Rows, removed: Slots) -> None:
        for one in self._store_views():
            if one.store is store:
                one.view.update(changed, removed)
                self.dirty = self.dirty or one is self._shown

    def publish(
        self, window: SharedWindow, moment: PublicationTime, admit: Callable[[int], bool]
    ) -> WindowPublication | None:
        """A new publication of the window, if it has changed and is admitted."""
        shown = self._shown
        if shown is None:
            raise BrokenPromise("a view was asked for rows before it was built")
        while not shown.view.complete:
            shown.view.grow()
        return window.refresh(shown.store, shown.view, shown.generation, moment, admit)

    def _store_views(self) -> Iterator[_StoreView]:
        for one in (self._shown, self._next):
            if one is not None:
                yield one
