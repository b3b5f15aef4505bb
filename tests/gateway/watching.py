"""A hub with tables, models of them, and viewers who take frames as a client would."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from evergrid.client.window_state import WindowState, apply_frame
from evergrid.gateway.live.outlet import Outlet
from evergrid.gateway.tables.deliveries import Published, Refused, Resumed, Told
from evergrid.gateway.tables.hub import Condition, Hub, Pace
from evergrid.gateway.tables.pane import Moment
from evergrid.model.table import Column, Table
from evergrid.model.types import TEXT
from evergrid.protocol import frames
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import Live
from evergrid.store.table import TableStore
from evergrid.testing.naive import NaiveTable, Row, Value
from evergrid.views.query import Query, Window
from tests.store import making

TABLE = making.made_table(version=False)
# The next pipeline has no column `note`, and one that was not there before.
OTHER = Table(
    name=TABLE.name,
    columns=(*(c for c in TABLE.columns if c.name != "note"), Column("fresh", TEXT)),
    row_id=TABLE.row_id,
    order=TABLE.order,
)
ALL = Query("made")
TOP = Window(0, 10)
LIVE = Condition(Live.LIVE, "")


def row(offset: int, **cells: Value) -> dict[str, Value]:
    """A row whose id is 0:<offset>, in the order of the offsets."""
    blank: dict[str, Value] = {column.name: None for column in TABLE.columns}
    return blank | {"partition": 0, "offset": offset, "ts": offset} | cells


def rows(*offsets: int) -> list[dict[str, Value]]:
    return [row(offset) for offset in offsets]


@dataclass(frozen=True)
class State:
    """A table as it was: whose rows, by their ids."""

    generation: int
    table: Table
    rows: Mapping[str, Row]


@dataclass
class Viewer:
    """One ticket's client: what it has been told, and the picture that its frames made."""

    query: Query
    window: Window
    outlet: Outlet = field(default_factory=lambda: Outlet(1))
    picture: WindowState | None = None
    frames: list[frames.Frame] = field(default_factory=list)
    told: Told | None = None
    refused: Refused | None = None
    moved: bool = False  # and no frame has come since
    oldest: int = 0  # of the table's states, the first that this picture may show

    def take(self) -> None:
        """Read what waits, as far as it is not replaced by something newer."""
        data = self.outlet.take()
        if data is not None:
            frame = frames.decode(data)
            self.frames.append(frame)
            floor = self.picture.sequence if self.picture and not self.moved else 0
            self.picture = apply_frame(self.picture, frame, floor=floor)
            self.moved = False

    def rows(self) -> list[dict[str, Value]]:
        assert self.picture is not None
        return shown_rows(self.picture.rows)

    def ids(self) -> list[Value]:
        return [one["_id"] for one in self.rows()]


def shown_rows(rows: pa.Table) -> list[dict[str, Value]]:
    columns = [making.plain(column) for column in rows.columns]
    return [
        dict(zip(rows.schema.names, cells, strict=True)) for cells in zip(*columns, strict=True)
    ]


@dataclass
class Shown:
    """A table on the hub: its store, its model, and every state it has been in."""

    store: TableStore
    model: NaiveTable
    generation: int
    states: list[State]

    def remember(self) -> None:
        rows = dict(self.model.rows)
        self.states.append(State(self.generation, self.model.table, rows))


class Watching:
    """Time stands still unless `pass_time` moves it."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace(frame_seconds=0.05, linger_seconds=2.0, max_views=8)
        self.hub = Hub(self.pace)
        self.tables: dict[str, Shown] = {}
        self.states: dict[str, list[State]] = {}
        self.viewers: dict[int, Viewer] = {}
        self.void: dict[int, Viewer] = {}
        self.closed: set[int] = set()
        self.now = 1000.0
        self._tickets = 0
        self._void_before: set[int] = set()

    # Tables

    def place(self, table: Table, rows: Sequence[Row], *, name: str = "made") -> None:
        """Another generation of a table, complete."""
        states = self.states.setdefault(name, [])
        generation = states[-1].generation + 1 if states else 1
        shown = Shown(TableStore(table), NaiveTable(table), generation, states)
        self.hub.tick += 1
        shown.store.upsert(making.batch(table, rows), self.hub.tick)
        shown.model.upsert(rows)
        shown.remember()
        self.tables[name] = shown
        self.hub.place(name, shown.store, generation)
        self.hub.condition(name, LIVE)

    def share(self, earlier: Shown | None = None, *, name: str = "made") -> None:
        """Another generation that has the very same table, or an earlier one's."""
        shown = self.tables[name] = earlier or self.tables[name]
        shown.generation = shown.states[-1].generation + 1
        shown.remember()
        self.hub.place(name, shown.store, shown.generation)
        self.hub.condition(name, LIVE)

    def withdraw(self, name: str = "made") -> None:
        del self.tables[name]
        self.hub.withdraw(name)
        self.hub.condition(name, Condition(Live.WAITING, f"There is no table {name} now."))

    def upsert(self, rows: Sequence[Row], name: str = "made") -> None:
        shown = self.tables[name]
        self.hub.tick += 1
        applied = shown.store.upsert(making.batch(shown.store.table, rows), self.hub.tick)
        shown.model.upsert(rows)
        shown.remember()
        self.hub.changed(shown.store, applied)

    def delete(self, ids: Sequence[str], name: str = "made") -> None:
        shown = self.tables[name]
        self.hub.tick += 1
        applied = shown.store.delete(ids)
        shown.model.delete(ids)
        shown.remember()
        self.hub.changed(shown.store, applied)

    # Viewers

    def open(
        self, query: Query, window: Window, resume: int | None = None, *, again: bool = False
    ) -> Viewer:
        self._tickets += 1
        viewer = self.viewers[self._tickets] = Viewer(query, window)
        self.hub.open(self._tickets, query, window, resume, self.moment(), again=again)
        self.collect()
        return viewer

    def move(self, viewer: Viewer, window: Window) -> None:
        # Who comes to a window gets it as the others there have it, until it is published next.
        viewer.window, viewer.moved, viewer.oldest = window, True, 0
        viewer.outlet.moved(window)
        self.hub.move(self.ticket(viewer), window, self.moment())
        self.collect()

    def close(self, viewer: Viewer) -> None:
        ticket = self.ticket(viewer)
        del self.viewers[ticket]
        self.closed.add(ticket)
        self.hub.close(ticket, self.now)

    def ticket(self, viewer: Viewer) -> int:
        return next(ticket for ticket, one in self.viewers.items() if one is viewer)

    # Work

    def moment(self) -> Moment:
        return Moment(0, self.hub.tick, self.now, int(self.now * 1e6))

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def publish(self) -> int:
        """What the hub has to say now; how many deliveries that were."""
        self.hub.publish(self.moment())
        return self.collect()

    def settle(self) -> None:
        """Make all views, and publish until nothing is due."""
        while self.hub.grow():
            pass
        for _ in range(3):
            self.pass_time(1.0)
            self.publish()
        for viewer in self.viewers.values():
            viewer.take()

    def collect(self) -> int:
        deliveries = self.hub.deliveries()
        assert self.hub.problems == []
        named: set[int] = set()
        for delivery in deliveries:
            if isinstance(delivery, Published):
                named.update(delivery.tickets)
                for ticket in delivery.tickets:
                    if viewer := self.viewers.get(ticket):
                        viewer.outlet.offer(delivery.publication)
                continue
            named.add(delivery.ticket)
            if viewer := self.viewers.get(delivery.ticket):
                self._hand(delivery.ticket, viewer, delivery)
        assert not named & self._void_before, "something came for a ticket that was given back"
        self._void_before = self.closed | self.void.keys()
        return len(deliveries)

    def _hand(self, ticket: int, viewer: Viewer, delivery: Resumed | Told | Refused) -> None:
        if isinstance(delivery, Resumed):
            viewer.outlet.resume(delivery.publication, delivery.sequence)
        elif isinstance(delivery, Told):
            viewer.told = delivery
        else:
            viewer.refused = delivery
            self.void[ticket] = self.viewers.pop(ticket)

    # What must hold

    def expected(self, viewer: Viewer, state: State) -> list[dict[str, Value]]:
        """The window as the model shows it in that state, with ids."""
        model = NaiveTable(state.table)
        model.rows = dict(state.rows)
        _, rows = model.window(viewer.query, viewer.window)
        known = [column.name for column in state.table.columns]
        names = [name for name in viewer.query.columns or known if name in known]
        return [
            {frames.ID_COLUMN: model.row_id(row), **{name: row[name] for name in names}}
            for row in rows
        ]

    def assert_current(self, viewer: Viewer) -> None:
        """The picture is the model's window, and the frame said so of offset and total."""
        shown = self.tables[viewer.query.table]
        picture = viewer.picture
        assert picture is not None, viewer
        assert viewer.rows() == self.expected(viewer, shown.states[-1])
        start, _ = shown.model.window(viewer.query, viewer.window)
        said = picture.header
        total = len(shown.model.view(viewer.query))
        assert (said.generation, said.total, said.offset) == (shown.generation, total, start)
        assert viewer.told is not None
        assert viewer.told.state is Live.LIVE

    def refusals(self) -> list[Code]:
        return [viewer.refused.code for viewer in self.void.values() if viewer.refused]


def random_rows(rng: random.Random, table: Table, most: int = 12) -> list[dict[str, Value]]:
    return [making.random_row(rng, table) for _ in range(rng.randrange(most + 1))]


def three_rows() -> Watching:
    """A table with the rows 0:1, 0:2 and 0:3."""
    made = Watching()
    made.place(TABLE, rows(1, 2, 3))
    return made
