"""One view with its windows, through the generations of its table."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from evergrid.gateway.engine.deliveries import Ticket
from evergrid.gateway.engine.publication import WindowPublication
from evergrid.gateway.engine.shared_window import Moment, Pane
from evergrid.model.errors import BrokenPromise
from evergrid.store.growing import Slots
from evergrid.store.rows import Rows
from evergrid.store.table import TableStore
from evergrid.views.query import Fault, Filter, OrderBy, Query, Window
from evergrid.views.view import View


class ViewKey(msgspec.Struct, frozen=True):
    """What makes two views the same; which columns are shown does not."""

    table: str
    filter: Filter | None
    search: str
    order: tuple[OrderBy, ...]

    @classmethod
    def of(cls, query: Query) -> ViewKey:
        return cls(query.table, query.filter, " ".join(query.search.split()), query.order)


PaneKey = tuple[tuple[str, ...], Window]


class _Standing(msgspec.Struct, frozen=True):
    """A view on one generation's store."""

    store: TableStore
    generation: int
    view: View


class Obstacle(msgspec.Struct, frozen=True):
    """Why a table that is there cannot answer a view's query any more."""

    fault: Fault
    message: str


class Holder:
    """Shows its view of the table's current store; the coming one is made beside it."""

    def __init__(self, key: ViewKey) -> None:
        self.key = key
        self.panes: dict[PaneKey, Pane] = {}
        self.idle_since: float | None = None
        self.dirty = False
        self.due = 0.0
        self.obstacle: Obstacle | None = None
        self._shown: _Standing | None = None
        self._coming: _Standing | None = None

    @property
    def is_shown(self) -> bool:
        return self._shown is not None

    @property
    def is_growing(self) -> bool:
        return self._coming is not None

    @property
    def is_bare(self) -> bool:
        """Whether there is no view, neither to show nor to come."""
        return self._shown is None and self._coming is None

    def tickets(self) -> list[Ticket]:
        """Of all who look at one of its windows."""
        return [ticket for pane in self.panes.values() for ticket in pane.tickets]

    def shows(self, store: TableStore) -> bool:
        return self._shown is not None and self._shown.store is store

    def has_moved_on_from(self, pane: Pane) -> bool:
        """Whether the pane's newest state is of the generation before, or forgotten."""
        if self._shown is None:
            return False
        return pane.publication is None or pane.is_of_another(self._shown.store)

    @property
    def nbytes(self) -> int:
        return sum(standing.view.nbytes for standing in self._standings())

    def rebase(self, store: TableStore, generation: int) -> None:
        """Make the view on another store; what is shown stays until that is complete.

        A view of this very store, which generations share, goes on under the new number: its
        windows are published in full once more, and nothing is made anew.
        """
        if self._shown is not None and self._shown.store is store:
            self._shown = msgspec.structs.replace(self._shown, generation=generation)
            self._coming = None
            self.dirty, self.due = True, 0.0
            for pane in self.panes.values():
                pane.forget()
        elif self._coming is not None and self._coming.store is store:
            self._coming = msgspec.structs.replace(self._coming, generation=generation)
        else:
            view = View(store, self.key.filter, self.key.search, self.key.order)
            self._coming = _Standing(store, generation, view)
        self.obstacle = None

    def lose(self, obstacle: Obstacle | None = None) -> None:
        """There is nothing to show any more; `obstacle` says why, if the table itself is there."""
        self._shown = self._coming = None
        self.obstacle = obstacle
        for pane in self.panes.values():
            pane.forget()

    def grow(self) -> bool:
        """Go on making the coming view; whether it is complete and shown now."""
        coming = self._coming
        if coming is None:
            return False
        if not coming.view.complete:
            coming.view.grow()
        if not coming.view.complete:
            return False
        self._shown, self._coming = coming, None
        self.dirty, self.due = True, 0.0
        for pane in self.panes.values():
            if not pane.tickets:
                pane.forget()  # or the store before would stay for as long as they linger
        return True

    def update(self, store: TableStore, changed: Rows, removed: Slots) -> None:
        for standing in self._standings():
            if standing.store is store:
                standing.view.update(changed, removed)
                self.dirty = self.dirty or standing is self._shown

    def publish(self, pane: Pane, moment: Moment) -> WindowPublication | None:
        """The pane's new state, if it has one."""
        shown = self._shown
        if shown is None:
            raise BrokenPromise("a view was asked for rows before it was made")
        while not shown.view.complete:
            shown.view.grow()
        return pane.refresh(shown.store, shown.view, shown.generation, moment)

    def _standings(self) -> Iterator[_Standing]:
        for standing in (self._shown, self._coming):
            if standing is not None:
                yield standing
