"""The hub: one view for all who ask for the same, and each publication encoded once.

It knows tables by name, views, windows and subscribers, and nothing of sockets or threads.
`deliveries` returns everything that it has to send.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from evergrid.gateway.engine.deliveries import (
    Delivery,
    Owner,
    Published,
    Rejected,
    Resumed,
    StateChanged,
    SubscriberId,
)
from evergrid.gateway.engine.export import Export
from evergrid.gateway.engine.hub_types import HubCounts, HubLimits, Subscription, TableEntry
from evergrid.gateway.engine.key_shares import KeyShares
from evergrid.gateway.engine.shared_view import PublicationTime, SharedView, SharedWindow, ViewKey
from evergrid.gateway.engine.window_bytes import WindowBytes
from evergrid.gateway.engine.window_states import BUILDING, cut_state, no_such_table
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live, WindowState
from evergrid.store.table_store import ApplyResult, TableStore
from evergrid.views.predicate import check_columns
from evergrid.views.view_query import Query, QueryError, Window

_LATE_SECONDS = 0.1
_VIEW_FAILED = "view failed: an error in Evergrid, please report it. The gateway's log says more."


class Hub:
    """Tables in, deliveries out."""

    def __init__(self, limits: HubLimits) -> None:
        self._limits = limits
        self._tables: dict[str, TableEntry] = {}
        self._views: dict[ViewKey, SharedView] = {}
        self._subscriptions: dict[SubscriberId, Subscription] = {}
        self._bytes = WindowBytes(limits.bytes)
        self._shares = KeyShares(limits)
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
            self._bytes.release_all(view.windows.values())

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
        owner: Owner = Owner(),
    ) -> None:
        """Subscribe to a window; `resume` is the sequence of a publication the client has.

        `again`: the client reopens it after a lost connection. It is not rejected then if its
        table has changed so that the query no longer fits.
        """
        name = query.table
        entry = self._tables.get(name) or TableEntry(no_such_table(name))
        if refusal := self._shares.refusal(ViewKey.of(query), owner.key, self._views):
            self._reject(subscriber, Code.TOO_MANY_VIEWS, refusal)
            return
        try:
            view = self._view(query, entry, again=again)
        except QueryError as error:
            self._reject(subscriber, Code.named(error.fault.value), error.sentence())
            return
        except Exception as error:  # an unexpected failure must end this query alone
            self.problems.append(f"Table {name}: a view cannot be built ({error!r}).")
            self._reject(subscriber, Code.VIEW_FAILED, _VIEW_FAILED)
            return
        self._tables[name] = entry
        subscription = self._subscriptions[subscriber] = Subscription(query, window, owner.key)
        self._bytes.add_owner(subscriber, owner)
        subscription.waits = self._lags_behind(view)
        self._report(subscriber, BUILDING if subscription.waits else self._state_of(view))
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
            self._forget(subscriber)

    # Work

    def build_views(self) -> bool:
        """Build one piece of a view that is incomplete; whether there was anything to build."""
        view = self._shares.next([view for view in self._views.values() if view.is_building])
        if view is None:
            return False
        with self._isolated(view):
            if view.build():
                self._end_waiting(view)
                self._report_to_all(view)
        return True

    def publish(self, moment: PublicationTime) -> None:
        """Publish what has changed and is due, and drop views that have been idle too long."""
        if self._bytes.is_retry_due(moment.now):
            for view in self._views.values():
                view.dirty = view.dirty or any(one.refused for one in view.windows.values())
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

    def _entry(self, name: str) -> TableEntry:
        if name not in self._tables:
            self._tables[name] = TableEntry(no_such_table(name))
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

    def _view(self, query: Query, entry: TableEntry, *, again: bool) -> SharedView:
        """The shared view of this query."""
        if entry.store is not None and not again:
            check_columns(query.columns, entry.store.table)
        key = ViewKey.of(query)
        view = self._views.get(key)
        if view is None:
            view = SharedView(key)
        if entry.store is not None and view.is_empty:
            if again:
                self._rebase(view, entry)
            else:
                view.rebase(entry.store, entry.generation)
        self._views[key] = view
        return view

    def _rebase(self, view: SharedView, entry: TableEntry) -> None:
        """Follow the table to another store, or record why the query no longer fits it."""
        assert entry.store is not None
        try:
            view.rebase(entry.store, entry.generation)
        except QueryError as error:
            text = f"This query does not fit the current table: {error.sentence()}"
            view.clear(WindowState(Live.WAITING, text, code=error.fault.value))
            self._bytes.release_all(view.windows.values())
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
            self._bytes.release_all(view.windows.values())
            for subscriber in view.subscribers():
                self._forget(subscriber)
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
            window = SharedWindow(columns, subscription.window, self._limits.bytes.frame)
            view.windows[columns, subscription.window] = window
        was_idle = not window.subscribers
        window.subscribers[subscriber] = None
        view.add_key(subscription.key)
        window.idle_since = view.idle_since = None
        if not view.is_shown or (subscription.waits and self._lags_behind(view)):
            return  # published when the view is built
        outdated = view.is_outdated(window)
        if was_idle or outdated:
            view.publish(window, self._next_moment(moment), self._admission(window))
            view.dirty = view.dirty or window.late
        publication = window.publication
        if publication is not None and subscriber not in window.charged:
            self._bytes.admit(window, window.counted)
        self._report_to(view, window, (subscriber,))
        if publication is None or subscriber in window.refused:
            return
        if outdated:  # the other subscribers need the same publication
            self._out.append(Published(tuple(window.charged), publication))
        elif resume is not None and resume in (publication.sequence, publication.base):
            self._out.append(Resumed(subscriber, publication, resume))
        else:
            self._out.append(Published((subscriber,), publication))

    def _detach(self, subscriber: SubscriberId, now: float) -> SharedView:
        subscription = self._subscriptions[subscriber]
        view = self._views[ViewKey.of(subscription.query)]
        key = subscription.query.columns, subscription.window
        self._bytes.leave(view.unsubscribe(subscriber, key, now), subscriber)
        view.remove_key(subscription.key)
        return view

    def _forget(self, subscriber: SubscriberId) -> None:
        self._subscriptions.pop(subscriber, None)
        self._bytes.remove_owner(subscriber)

    def _publish(self, view: SharedView, moment: PublicationTime) -> None:
        late = False
        for window in view.windows.values():
            if not window.subscribers:
                continue
            before = window.missing, tuple(window.refused)
            publication = view.publish(window, self._next_moment(moment), self._admission(window))
            late = late or window.late
            if publication is None and window.refused and window.publication is not None:
                # It is as it was; there may be room now for those that were refused.
                self._bytes.admit(window, window.counted)
                publication = window.publication if tuple(window.refused) != before[1] else None
            if before != (window.missing, tuple(window.refused)):
                self._report_to(view, window, window.subscribers)
            if publication is not None:
                self._out.append(Published(tuple(window.charged), publication))
        view.dirty = late
        view.due = moment.now + (_LATE_SECONDS if late else self._limits.frame_seconds)

    def _admission(self, window: SharedWindow) -> Callable[[int], bool]:
        return lambda size: self._bytes.admit(window, size)

    def _next_moment(self, moment: PublicationTime) -> PublicationTime:
        self._sequence += 1
        return msgspec.structs.replace(moment, sequence=self._sequence, tick=self.tick)

    def _drop_idle(self, key: ViewKey, view: SharedView, now: float) -> None:
        limit = now - self._limits.linger_seconds
        self._bytes.release_all(view.drop_idle_windows(limit))
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
        return BUILDING

    def _report_to_all(self, view: SharedView) -> None:
        for window in view.windows.values():
            self._report_to(view, window, window.subscribers)

    def _report_to(
        self, view: SharedView, window: SharedWindow, subscribers: Iterable[SubscriberId]
    ) -> None:
        """Report the view's state; or that the window is cut, or refused to a subscriber."""
        state = self._state_of(view)
        shown = view.is_shown and state.state in (Live.LIVE, Live.STALE)
        if shown and window.missing:
            state = cut_state(state, window.missing, self._limits.bytes.frame)
        for subscriber in subscribers:
            refusal = window.refused.get(subscriber) if shown else None
            self._report(subscriber, refusal or state)

    def _report(self, subscriber: SubscriberId, state: WindowState) -> None:
        subscription = self._subscriptions[subscriber]
        if subscription.state != state:
            subscription.state = state
            self._out.append(StateChanged(subscriber, state))

    def _reject(self, subscriber: SubscriberId, code: Code, message: str) -> None:
        self._out.append(Rejected(subscriber, code, message))
