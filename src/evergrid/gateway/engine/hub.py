"""The hub: one view however many look at it, and each state of a window encoded once.

It knows tables by name, views, windows and tickets, and nothing of sockets or threads.
Everything it has to say is collected with `deliveries`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from evergrid.gateway.engine.deliveries import Delivery, Published, Refused, Resumed, Ticket, Told
from evergrid.gateway.engine.export import Export
from evergrid.gateway.engine.shared_view import Holder, Obstacle, ViewKey
from evergrid.gateway.engine.shared_window import Moment, Pane
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import Live
from evergrid.store.table import Applied, TableStore
from evergrid.views.predicate import check_columns
from evergrid.views.query import Query, QueryError, Window


class Condition(msgspec.Struct, frozen=True):
    """How a table is, in the words that its viewers get; of one view, `code` is its fault."""

    state: Live
    message: str
    since: int = 0
    done: int = 0
    total: int = 0
    code: str = ""


class Pace(msgspec.Struct, frozen=True):
    """How often, how long, how many: seconds and counts."""

    frame_seconds: float
    linger_seconds: float
    max_views: int


class _Shelf(msgspec.Struct):
    """A table as the hub shows it."""

    condition: Condition
    store: TableStore | None = None
    generation: int = 0


class _Viewer(msgspec.Struct):
    """`waits`: came while its view was still to follow its table, and is shown nothing before."""

    query: Query
    window: Window
    condition: Condition | None = None
    waits: bool = False


class Hub:
    """Tables in, deliveries out."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._shelves: dict[str, _Shelf] = {}
        self._holders: dict[ViewKey, Holder] = {}
        self._viewers: dict[Ticket, _Viewer] = {}
        self._out: list[Delivery] = []
        self._sequence = 0
        self.tick = 1
        self.exports: list[Export] = []  # under way, and to be told of changes as views are
        self.problems: list[str] = []  # for the log of whoever runs this

    # Tables

    def place(self, name: str, store: TableStore, generation: int) -> None:
        """Show this store under the name from now on; each view follows when it is made.

        A store that is shown already goes on under the generation's number.
        """
        shelf = self._shelf(name)
        shelf.store, shelf.generation = store, generation
        for holder in self._holders_of(name):
            with self._alone(holder):
                self._rebase(holder, shelf)

    def withdraw(self, name: str) -> None:
        """The table is no more; its windows wait for it to return."""
        shelf = self._shelf(name)
        shelf.store = None
        for holder in self._holders_of(name):
            holder.lose()

    def condition(self, name: str, condition: Condition) -> None:
        """Say how a table is, to those who look at it, if it is not as it was."""
        shelf = self._shelf(name)
        if shelf.condition == condition:
            return
        shelf.condition = condition
        for holder in self._holders_of(name):
            self._tell_all(holder)

    def changed(self, store: TableStore, applied: Applied) -> None:
        """Have every view of this store follow a change."""
        if not len(applied.changed) and not len(applied.removed):
            return
        rows = store.rows(applied.changed)
        for holder in self._holders_of(store.table.name):
            with self._alone(holder):
                holder.update(store, rows, applied.removed)
        for export in self.exports:
            export.update(store, rows, applied.removed)

    # Viewers

    def open(
        self,
        ticket: Ticket,
        query: Query,
        window: Window,
        resume: int | None,
        moment: Moment,
        *,
        again: bool = False,
    ) -> None:
        """Let a ticket look at a window; `resume` is the sequence its viewer has already.

        Who opens it `again`, after a break, is not refused for what its table has become.
        """
        name = query.table
        shelf = self._shelves.get(name) or _Shelf(no_such_table(name))
        viewer = _Viewer(query, window)
        try:
            holder = self._holder(query, shelf, again=again)
        except QueryError as error:
            self._out.append(Refused(ticket, Code.named(error.fault.value), error.sentence()))
            return
        except Exception as error:  # whatever a query does to us, it does to itself
            self.problems.append(f"A view of {name} cannot be made ({error!r}).")
            self._out.append(Refused(ticket, Code.VIEW_FAILED, _FAILED))
            return
        if holder is None:
            most = self._pace.max_views
            text = f"{most} different views are open, which is the most. Try again later."
            self._out.append(Refused(ticket, Code.TOO_MANY_VIEWS, text))
            return
        self._shelves[name] = shelf
        self._viewers[ticket] = viewer
        viewer.waits = self._is_left(holder)
        self._tell(ticket, viewer, _BEING_MADE if viewer.waits else self._condition_of(holder))
        with self._alone(holder):
            self._attach(ticket, holder, viewer, resume, moment)

    def move(self, ticket: Ticket, window: Window, moment: Moment) -> None:
        """Let a ticket look at another window of its view."""
        viewer = self._viewers.get(ticket)
        if viewer is None:
            return
        holder = self._detach(ticket, viewer, moment.now)
        viewer.window = window
        with self._alone(holder):
            self._attach(ticket, holder, viewer, None, moment)

    def close(self, ticket: Ticket, now: float) -> None:
        """Take a ticket back; nothing comes for it any more."""
        viewer = self._viewers.pop(ticket, None)
        if viewer is not None:
            self._detach(ticket, viewer, now)

    # Work

    def grow(self) -> bool:
        """Make one piece of the views that are being made; whether there is more to do."""
        for holder in list(self._holders.values()):
            if holder.is_growing:
                with self._alone(holder):
                    if holder.grow():
                        self._let_look(holder)
                        self._tell_all(holder)
                return True
        return False

    def publish(self, moment: Moment) -> None:
        """Publish what changed, where it is due, and drop what nobody looked at for a while."""
        for key, holder in list(self._holders.items()):
            if self._has_news(holder) and holder.due <= moment.now:
                with self._alone(holder):
                    self._publish(holder, moment)
            self._forget_idle(key, holder, moment.now)

    def due(self) -> float | None:
        """When there is something to publish next; None when nothing waits."""
        waiting = [h.due for h in self._holders.values() if self._has_news(h)]
        return min(waiting, default=None)

    def deliveries(self) -> Sequence[Delivery]:
        """What there is to say since the last call."""
        out, self._out = self._out, []
        return [d for d in out if not isinstance(d, Published) or self._alive(d.tickets)]

    # What it holds

    def counts(self) -> Mapping[str, int]:
        holders = list(self._holders.values())  # in one step: it is asked from another thread
        return {
            "views": len(holders),
            "windows": sum(len(holder.panes) for holder in holders),
            "tickets": len(self._viewers),
            "sequence": self._sequence,
        }

    def awaited(self) -> Sequence[str]:
        """Names of tables that somebody looks for, and that are not there."""
        return [name for name, shelf in self._shelves.items() if shelf.store is None]

    def views_of(self, name: str) -> int:
        return sum(1 for _ in self._holders_of(name))

    def view_bytes(self) -> int:
        return sum(holder.nbytes for holder in self._holders.values())

    def _shelf(self, name: str) -> _Shelf:
        if name not in self._shelves:
            self._shelves[name] = _Shelf(no_such_table(name))
        return self._shelves[name]

    def _holders_of(self, name: str) -> Iterable[Holder]:
        return [holder for key, holder in self._holders.items() if key.table == name]

    def _has_news(self, holder: Holder) -> bool:
        """Whether there is something to publish. What is left behind stays as it is."""
        return holder.dirty and holder.is_shown and not self._is_left(holder)

    def _is_left(self, holder: Holder) -> bool:
        """Whether a view still shows the store before, while another view of its table has been
        switched: whoever has seen the new rows must not see old ones again."""
        if not (holder.is_shown and holder.is_growing):
            return False
        store = self._shelves[holder.key.table].store
        others = self._holders_of(holder.key.table)
        return store is not None and any(one.shows(store) for one in others)

    def _holder(self, query: Query, shelf: _Shelf, *, again: bool) -> Holder | None:
        """The one holder of the query's view; None when there are too many views."""
        if shelf.store is not None and not again:
            check_columns(query.columns, shelf.store.table)
        key = ViewKey.of(query)
        holder = self._holders.get(key)
        if holder is None:
            if len(self._holders) >= self._pace.max_views:
                return None
            holder = Holder(key)
        if shelf.store is not None and holder.is_bare:
            if again:
                self._rebase(holder, shelf)
            else:
                holder.rebase(shelf.store, shelf.generation)
        self._holders[key] = holder
        return holder

    def _rebase(self, holder: Holder, shelf: _Shelf) -> None:
        """Follow the table to another store, or say why this view cannot be had of it."""
        assert shelf.store is not None
        try:
            holder.rebase(shelf.store, shelf.generation)
        except QueryError as error:
            sentence = f"This view cannot be had of the table as it is now: {error.sentence()}"
            holder.lose(Obstacle(error.fault, sentence))
        if not holder.is_growing:
            self._let_look(holder)
        self._tell_all(holder)

    def _let_look(self, holder: Holder) -> None:
        """Its view follows its table now: nobody has to wait for that any more."""
        for ticket in holder.tickets():
            self._viewers[ticket].waits = False

    @contextlib.contextmanager
    def _alone(self, holder: Holder) -> Iterator[None]:
        """Whatever goes wrong with one view ends that view, and harms no other."""
        try:
            yield
        except Exception as error:
            self.problems.append(f"A view of {holder.key.table} failed ({error!r}).")
            self._holders.pop(holder.key, None)
            for ticket in holder.tickets():
                self._viewers.pop(ticket, None)
                self._out.append(Refused(ticket, Code.VIEW_FAILED, _FAILED))

    def _attach(
        self,
        ticket: Ticket,
        holder: Holder,
        viewer: _Viewer,
        resume: int | None,
        moment: Moment,
    ) -> None:
        key = (viewer.query.columns, viewer.window)
        pane = holder.panes.get(key)
        if pane is None:
            pane = holder.panes[key] = Pane(*key)
        was_idle = not pane.tickets
        pane.tickets[ticket] = None
        pane.idle_since = holder.idle_since = None
        if not holder.is_shown or (viewer.waits and self._is_left(holder)):
            return  # published when the view is made
        is_old = holder.has_moved_on_from(pane)
        if was_idle or is_old:
            self._sequence += 1
            holder.publish(pane, self._numbered(moment))
            holder.dirty = holder.dirty or pane.late
        publication = pane.publication
        if publication is None:
            return
        if is_old:  # the others who look at it were about to be sent the same
            self._out.append(Published(tuple(pane.tickets), publication))
            return
        if resume is not None and resume in (publication.sequence, publication.base):
            self._out.append(Resumed(ticket, publication, resume))
        else:
            self._out.append(Published((ticket,), publication))

    def _detach(self, ticket: Ticket, viewer: _Viewer, now: float) -> Holder:
        holder = self._holders[ViewKey.of(viewer.query)]
        pane = holder.panes[viewer.query.columns, viewer.window]
        del pane.tickets[ticket]
        if not pane.tickets:
            pane.idle_since = now
        if not any(pane.tickets for pane in holder.panes.values()):
            holder.idle_since = now
        return holder

    def _publish(self, holder: Holder, moment: Moment) -> None:
        late = False
        for pane in holder.panes.values():
            if not pane.tickets:
                continue
            self._sequence += 1
            publication = holder.publish(pane, self._numbered(moment))
            late = late or pane.late
            if publication is not None:
                self._out.append(Published(tuple(pane.tickets), publication))
        holder.dirty = late
        holder.due = moment.now + (_LATE_SECONDS if late else self._pace.frame_seconds)

    def _numbered(self, moment: Moment) -> Moment:
        return Moment(self._sequence, self.tick, moment.now, moment.wall)

    def _forget_idle(self, key: ViewKey, holder: Holder, now: float) -> None:
        limit = now - self._pace.linger_seconds
        for pane_key, pane in list(holder.panes.items()):
            if pane.idle_since is not None and pane.idle_since <= limit:
                del holder.panes[pane_key]
        if holder.idle_since is not None and holder.idle_since <= limit and not holder.panes:
            self._holders.pop(key, None)
            self._forget_name(key.table)

    def _forget_name(self, name: str) -> None:
        """Names are invented by whoever asks: none stays that means nothing to anybody."""
        shelf = self._shelves.get(name)
        unknown = shelf and shelf.store is None and shelf.condition.state is Live.WAITING
        if unknown and not self._holders_of(name):
            del self._shelves[name]

    def _condition_of(self, holder: Holder) -> Condition:
        """How a view is: as its table, unless that is there and the view is not."""
        shelf = self._shelves[holder.key.table]
        if shelf.store is not None and holder.obstacle:
            message, fault = holder.obstacle.message, holder.obstacle.fault
            return Condition(Live.WAITING, message, code=fault.value)
        if holder.is_shown or shelf.store is None or shelf.condition.state is not Live.LIVE:
            return shelf.condition
        return _BEING_MADE

    def _tell_all(self, holder: Holder) -> None:
        condition = self._condition_of(holder)
        for ticket in holder.tickets():
            self._tell(ticket, self._viewers[ticket], condition)

    def _tell(self, ticket: Ticket, viewer: _Viewer, condition: Condition) -> None:
        if viewer.condition != condition:
            viewer.condition = condition
            self._out.append(Told(ticket, *msgspec.structs.astuple(condition)))

    def _alive(self, tickets: Sequence[Ticket]) -> bool:
        return any(ticket in self._viewers for ticket in tickets)


_BEING_MADE = Condition(Live.LOADING, "The rows are being filtered and sorted.")
_LATE_SECONDS = 0.1
_FAILED = "This view could not be kept up to date. That is a fault of ours: please report it."


def no_such_table(name: str) -> Condition:
    return Condition(
        Live.WAITING, f"There is no table {name} now. This window comes alive when it appears."
    )
