"""The hub: one view for all who ask for the same, and each publication encoded once.

It knows tables by name, views, windows and subscribers, and nothing of sockets or threads.
`deliveries` returns everything that it has to send.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from evergrid.gateway.engine.deliveries import (
    Delivery,
    Published,
    Rejected,
    Resumed,
    StateChanged,
    SubscriberId,
)
from evergrid.gateway.engine.export import Export
from evergrid.gateway.engine.shared_view import PublicationTime, SharedView, SharedWindow, ViewKey
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live, WindowState
from evergrid.store.table_store import ApplyResult, TableStore
from evergrid.views.predicate import check_columns
from evergrid.views.view_query import Query, QueryError, Window

_BUILDING = WindowState(Live.LOADING, "The rows are being filtered and sorted.")
_LATE_SECONDS = 0.1
_VIEW_FAILED = "view failed: an error in Evergrid, please report it. The gateway's log says more."


class HubLimits(msgspec.Struct, frozen=True):
    """How often views are published, how long idle ones are kept, how many there may be."""

    frame_seconds: float
    linger_seconds: float
    max_views: int


class HubCounts(msgspec.Struct, frozen=True):
    """What the hub holds; `publications` counts all since the start."""

    views: int
    windows: int
    subscribers: int
    publications: int


class _TableEntry(msgspec.Struct):
    """A table by its name; `store` is None while there is no such table."""

    state: WindowState
    store: TableStore | None = None
    generation: int = 0


class _Subscription(msgspec.Struct):
    """`waits`: opened while its view lagged behind its table; gets no rows until it follows."""

    query: Query
    window: Window
    state: WindowState | None = None
    waits: bool = False


class Hub:
    """Tables in, deliveries out."""

    def __init__(self, limits: HubLimits) -> None:
        self._limits = limits
        self._tables: dict[str, _TableEntry] = {}
        self._views: dict[ViewKey, SharedView] = {}
        self._subscriptions: dict[SubscriberId, _Subscription] = {}
        self._out: list[Delivery] = []
        self._sequence = 0
        self.tick = 1
        # In progress; they follow changes as views do. One that was cancelled is not kept.
        self.exports: weakref.WeakSet[Export] = weakref.WeakSet()
        self.problems: list[str] = []  # lines for the log

    # Tables

    def show_table(self, name: str, store: TableStore, generation: int) -> None:
        """Show this store under the name from now on; each view follows when it is built.

        A store that is shown already continues under the new generation's number.
        """
        entry = self._entry(name)
        entry.store, entry.generation = store, generation
        for view in self._views_of(name):
            with self._isolated(view):
                self._rebase(view, entry)

    def remove_table(self, name: str) -> None:
        """The table no longer exists; its windows wait for it to return."""
        entry = self._entry(name)
        entry.store = None
        for view in self._views_of(name):
            view.clear()

    def set_state(self, name: str, state: WindowState) -> None:
        """Set a table's state and report it to the table's subscribers if it has changed."""
        entry = self._entry(name)
        if entry.state == state:
            return
        entry.state = state
        for view in self._views_of(name):
            self._report_to_all(view)

    def update(self, store: TableStore, applied: ApplyResult) -> None:
        """Apply a change of this store to all its views and exports."""
        if not len(applied.changed) and not len(applied.removed):
            return
        rows = store.rows(applied.changed)
        for view in self._views_of(store.table.name):
            with self._isolated(view):
                view.update(store, rows, applied.removed)
        for export in self.exports:
            export.update(store, rows, applied.removed)

    # Subscriptions

    def open(
        self,
        subscriber: SubscriberId,
        query: Query,
        window: Window,
        resume: int | None,
        moment: PublicationTime,
        *,
        again: bool = False,
    ) -> None:
        """Subscribe to a window; `resume` is the sequence of a publication the client has.

        `again`: the client reopens it after a lost connection. It is not rejected then if its
        table has changed so that the query no longer fits.
        """
        name = query.table
        entry = self._tables.get(name) or _TableEntry(no_such_table(name))
        try:
            view = self._view(query, entry, again=again)
        except QueryError as error:
            self._reject(subscriber, Code.named(error.fault.value), error.sentence())
            return
        except Exception as error:  # an unexpected failure must end this query alone
            self.problems.append(f"Table {name}: a view cannot be built ({error!r}).")
            self._reject(subscriber, Code.VIEW_FAILED, _VIEW_FAILED)
            return
        if view is None:
            most = self._limits.max_views
            text = f"too many views: {most} are open, which is the limit. Try again later."
            self._reject(subscriber, Code.TOO_MANY_VIEWS, text)
            return
        self._tables[name] = entry
        subscription = self._subscriptions[subscriber] = _Subscription(query, window)
        subscription.waits = self._lags_behind(view)
        self._report(subscriber, _BUILDING if subscription.waits else self._state_of(view))
        with self._isolated(view):
            self._attach(subscriber, view, resume, moment)

    def move(self, subscriber: SubscriberId, window: Window, moment: PublicationTime) -> None:
        """Change the subscriber's window; the view stays the same."""
        if subscriber not in self._subscriptions:
            return
        view = self._detach(subscriber, moment.now)
        self._subscriptions[subscriber].window = window
        with self._isolated(view):
            self._attach(subscriber, view, None, moment)

    def close(self, subscriber: SubscriberId, now: float) -> None:
        """End a subscription; nothing more is delivered to it."""
        if subscriber in self._subscriptions:
            self._detach(subscriber, now)
            del self._subscriptions[subscriber]

    # Work

    def build_views(self) -> bool:
        """Build one piece of a view that is incomplete; whether there was anything to build."""
        for view in list(self._views.values()):
            if view.is_building:
                with self._isolated(view):
                    if view.build():
                        self._end_waiting(view)
                        self._report_to_all(view)
                return True
        return False

    def publish(self, moment: PublicationTime) -> None:
        """Publish what has changed and is due, and drop views that have been idle too long."""
        for key, view in list(self._views.items()):
            if self._has_changes(view) and view.due <= moment.now:
                with self._isolated(view):
                    self._publish(view, moment)
            self._drop_idle(key, view, moment.now)

    def due(self) -> float | None:
        """When the next publication is due; None if nothing waits."""
        waiting = [view.due for view in self._views.values() if self._has_changes(view)]
        return min(waiting, default=None)

    def deliveries(self) -> Sequence[Delivery]:
        """The deliveries since the last call."""
        out, self._out = self._out, []
        closed = self._subscriptions.keys().isdisjoint
        return [d for d in out if not isinstance(d, Published) or not closed(d.subscribers)]

    # What it holds

    def counts(self) -> HubCounts:
        views = list(self._views.values())  # in one step: another thread calls this
        return HubCounts(
            views=len(views),
            windows=sum(len(view.windows) for view in views),
            subscribers=len(self._subscriptions),
            publications=self._sequence,
        )

    def missing_tables(self) -> Sequence[str]:
        """Names of tables that do not exist and that somebody has subscribed to."""
        return [name for name, entry in self._tables.items() if entry.store is None]

    def view_count(self, name: str) -> int:
        return sum(1 for _ in self._views_of(name))

    def view_bytes(self) -> int:
        return sum(view.nbytes for view in self._views.values())

    def _entry(self, name: str) -> _TableEntry:
        if name not in self._tables:
            self._tables[name] = _TableEntry(no_such_table(name))
        return self._tables[name]

    def _views_of(self, name: str) -> Iterable[SharedView]:
        return [view for key, view in self._views.items() if key.table == name]

    def _has_changes(self, view: SharedView) -> bool:
        """Whether there is something to publish; a view that lags behind stays as it is."""
        return view.dirty and view.is_shown and not self._lags_behind(view)

    def _lags_behind(self, view: SharedView) -> bool:
        """Whether the view still shows the previous store, while another view of its table shows
        the current one: a client that has seen new rows must not see old rows again."""
        if not (view.is_shown and view.is_building):
            return False
        store = self._tables[view.key.table].store
        others = self._views_of(view.key.table)
        return store is not None and any(one.shows(store) for one in others)

    def _view(self, query: Query, entry: _TableEntry, *, again: bool) -> SharedView | None:
        """The shared view of this query; None if there are too many views."""
        if entry.store is not None and not again:
            check_columns(query.columns, entry.store.table)
        key = ViewKey.of(query)
        view = self._views.get(key)
        if view is None:
            if len(self._views) >= self._limits.max_views:
                return None
            view = SharedView(key)
        if entry.store is not None and view.is_empty:
            if again:
                self._rebase(view, entry)
            else:
                view.rebase(entry.store, entry.generation)
        self._views[key] = view
        return view

    def _rebase(self, view: SharedView, entry: _TableEntry) -> None:
        """Follow the table to another store, or record why the query no longer fits it."""
        assert entry.store is not None
        try:
            view.rebase(entry.store, entry.generation)
        except QueryError as error:
            text = f"This query does not fit the current table: {error.sentence()}"
            view.clear(WindowState(Live.WAITING, text, code=error.fault.value))
        if not view.is_building:
            self._end_waiting(view)
        self._report_to_all(view)

    def _end_waiting(self, view: SharedView) -> None:
        """The view follows its table again: all its subscribers get rows."""
        for subscriber in view.subscribers():
            self._subscriptions[subscriber].waits = False

    @contextlib.contextmanager
    def _isolated(self, view: SharedView) -> Iterator[None]:
        """An unexpected failure ends this view and no other."""
        try:
            yield
        except Exception as error:
            self.problems.append(f"Table {view.key.table}: a view failed ({error!r}).")
            self._views.pop(view.key, None)
            for subscriber in view.subscribers():
                self._subscriptions.pop(subscriber, None)
                self._reject(subscriber, Code.VIEW_FAILED, _VIEW_FAILED)

    def _attach(
        self,
        subscriber: SubscriberId,
        view: SharedView,
        resume: int | None,
        moment: PublicationTime,
    ) -> None:
        subscription = self._subscriptions[subscriber]
        columns = subscription.query.columns
        window = view.windows.get((columns, subscription.window))
        if window is None:
            window = SharedWindow(columns, subscription.window)
            view.windows[columns, subscription.window] = window
        was_idle = not window.subscribers
        window.subscribers[subscriber] = None
        window.idle_since = view.idle_since = None
        if not view.is_shown or (subscription.waits and self._lags_behind(view)):
            return  # published when the view is built
        outdated = view.is_outdated(window)
        if was_idle or outdated:
            view.publish(window, self._next_moment(moment))
            view.dirty = view.dirty or window.late
        publication = window.publication
        if publication is None:
            return
        if outdated:  # the other subscribers need the same publication
            self._out.append(Published(tuple(window.subscribers), publication))
        elif resume is not None and resume in (publication.sequence, publication.base):
            self._out.append(Resumed(subscriber, publication, resume))
        else:
            self._out.append(Published((subscriber,), publication))

    def _detach(self, subscriber: SubscriberId, now: float) -> SharedView:
        subscription = self._subscriptions[subscriber]
        view = self._views[ViewKey.of(subscription.query)]
        view.unsubscribe(subscriber, (subscription.query.columns, subscription.window), now)
        return view

    def _publish(self, view: SharedView, moment: PublicationTime) -> None:
        late = False
        for window in view.windows.values():
            if not window.subscribers:
                continue
            publication = view.publish(window, self._next_moment(moment))
            late = late or window.late
            if publication is not None:
                self._out.append(Published(tuple(window.subscribers), publication))
        view.dirty = late
        view.due = moment.now + (_LATE_SECONDS if late else self._limits.frame_seconds)

    def _next_moment(self, moment: PublicationTime) -> PublicationTime:
        self._sequence += 1
        return msgspec.structs.replace(moment, sequence=self._sequence, tick=self.tick)

    def _drop_idle(self, key: ViewKey, view: SharedView, now: float) -> None:
        limit = now - self._limits.linger_seconds
        view.drop_idle_windows(limit)
        if view.idle_since is not None and view.idle_since <= limit and not view.windows:
            self._views.pop(key, None)
            self._drop_unknown(key.table)

    def _drop_unknown(self, name: str) -> None:
        """Clients can ask for any name: forget those that are not tables and have no views."""
        entry = self._tables.get(name)
        unknown = entry and entry.store is None and entry.state.state is Live.WAITING
        if unknown and not self._views_of(name):
            del self._tables[name]

    def _state_of(self, view: SharedView) -> WindowState:
        """A view's state: its table's, unless the table exists and the view does not."""
        entry = self._tables[view.key.table]
        if entry.store is not None and view.error:
            return view.error
        if view.is_shown or entry.store is None or entry.state.state is not Live.LIVE:
            return entry.state
        return _BUILDING

    def _report_to_all(self, view: SharedView) -> None:
        state = self._state_of(view)
        for subscriber in view.subscribers():
            self._report(subscriber, state)

    def _report(self, subscriber: SubscriberId, state: WindowState) -> None:
        subscription = self._subscriptions[subscriber]
        if subscription.state != state:
            subscription.state = state
            self._out.append(StateChanged(subscriber, state))

    def _reject(self, subscriber: SubscriberId, code: Code, message: str) -> None:
        self._out.append(Rejected(subscriber, code, message))


def no_such_table(name: str) -> WindowState:
    return WindowState(
        Live.WAITING, f"There is no table {name} now. This window comes alive when it appears."
    )
