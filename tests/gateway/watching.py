"""A hub with tables, models of them, and viewers who take frames as a client would."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from evergrid.client.live_window import LiveWindow, apply_frame
from evergrid.gateway.engine.deliveries import Owner, Published, Rejected, Resumed, StateChanged
from evergrid.gateway.engine.hub import Hub
from evergrid.gateway.engine.hub_types import HubLimits
from evergrid.gateway.engine.shared_view import PublicationTime
from evergrid.gateway.live.outbound_queue import PendingFrame
from evergrid.model.field_types import TEXT
from evergrid.model.table import Column, Table
from evergrid.protocol import frames
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live, WindowState
from evergrid.store.table_store import TableStore
from evergrid.views.view_query import Query, Window
from tests.store import making
from tests.support.naive_table import NaiveTable, Row, Value

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
LIVE = WindowState(Live.LIVE, "")


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
    """One subscriber's client: what it has been told, and the picture that its frames made."""

    query: Query
    window: Window
    pending: PendingFrame = field(default_factory=lambda: PendingFrame(1))
    picture: LiveWindow | None = None
    frames: list[frames.Frame] = field(default_factory=list)
    reports: list[WindowState] = field(default_factory=list)
    rejected: Rejected | None = None
    moved: bool = False  # and no frame has come since
    oldest: int = 0  # of the table's states, the first that this picture may show

    @property
    def told(self) -> WindowState | None:
        """The state that was reported last."""
        return self.reports[-1] if self.reports else None

    def take(self) -> None:
        """Read what waits, as far as it is not replaced by something newer."""
        data = self.pending.take()
        if data is not None:
            frame = frames.decode(data)
            self.frames.append(frame)
            floor = self.picture.sequence if self.picture and not self.moved else 0
            self.picture = apply_frame(self.picture or LiveWindow(""), frame, floor=floor)
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

    def __init__(self, limits: HubLimits | None = None) -> None:
        self.limits = limits or HubLimits(
            frame_seconds=0.05, linger_seconds=2.0, max_views=8, max_views_per_key=8
        )
        self.hub = Hub(self.limits)
        self.tables: dict[str, Shown] = {}
        self.states: dict[str, list[State]] = {}
        self.viewers: dict[int, Viewer] = {}
        self.void: dict[int, Viewer] = {}
        self.closed: set[int] = set()
        self.now = 1000.0
        self._subscriber_ids = 0
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
        self.hub.show_table(name, shown.store, generation)
        self.hub.set_state(name, LIVE)

    def share(self, earlier: Shown | None = None, *, name: str = "made") -> None:
        """Another generation that has the very same table, or an earlier one's."""
        shown = self.tables[name] = earlier or self.tables[name]
        shown.generation = shown.states[-1].generation + 1
        shown.remember()
        self.hub.show_table(name, shown.store, shown.generation)
        self.hub.set_state(name, LIVE)

    def withdraw(self, name: str = "made") -> None:
        del self.tables[name]
        self.hub.remove_table(name)
        self.hub.set_state(name, WindowState(Live.WAITING, f"There is no table {name} now."))

    def upsert(self, rows: Sequence[Row], name: str = "made") -> None:
        shown = self.tables[name]
        self.hub.tick += 1
        applied = shown.store.upsert(making.batch(shown.store.table, rows), self.hub.tick)
        shown.model.upsert(rows)
        shown.remember()
        self.hub.update(shown.store, applied)

    def delete(self, ids: Sequence[str], name: str = "made") -> None:
        shown = self.tables[name]
        self.hub.tick += 1
        applied = shown.store.delete(ids)
        shown.model.delete(ids)
        shown.remember()
        self.hub.update(shown.store, applied)

    # Viewers

    def open(
        self,
        query: Query,
        window: Window,
        resume: int | None = None,
        *,
        again: bool = False,
        key: str = "",
    ) -> Viewer:
        self._subscriber_ids += 1
        viewer = self.viewers[self._subscriber_ids] = Viewer(query, window)
        number, owner = self._subscriber_ids, Owner(key=key)
        self.hub.open(number, query, window, resume, self.moment(), again=again, owner=owner)
        self.collect()
        return viewer

    def move(self, viewer: Viewer, window: Window) -> None:
        # Who comes to a window gets it as the others there have it, until it is published next.
        viewer.window, viewer.moved, viewer.oldest = window, True, 0
        viewer.pending.move(window)
        self.hub.move(self.subscriber(viewer), window, self.moment())
        self.collect()

    def close(self, viewer: Viewer) -> None:
        subscriber = self.subscriber(viewer)
        del self.viewers[subscriber]
        self.closed.add(subscriber)
        self.hub.close(subscriber, self.now)

    def subscriber(self, viewer: Viewer) -> int:
        return next(subscriber for subscriber, one in self.viewers.items() if one is viewer)

    # Work

    def moment(self) -> PublicationTime:
        return PublicationTime(0, self.hub.tick, self.now, int(self.now * 1e6))

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def publish(self) -> int:
        """What the hub has to say now; how many deliveries that were."""
        self.hub.publish(self.moment())
        return self.collect()

    def settle(self) -> None:
        """Make all views, and publish until nothing is due."""
        while self.hub.build_views():
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
                named.update(delivery.subscribers)
                for subscriber in delivery.subscribers:
                    if viewer := self.viewers.get(subscriber):
                        viewer.pending.offer(delivery.publication)
                continue
            named.add(delivery.subscriber)
            if viewer := self.viewers.get(delivery.subscriber):
                self._hand(delivery.subscriber, viewer, delivery)
        assert not named & self._void_before, (
            "something came for a subscriber whose subscription had ended"
        )
        self._void_before = self.closed | self.void.keys()
        return len(deliveries)

    def _hand(
        self, subscriber: int, viewer: Viewer, delivery: Resumed | StateChanged | Rejected
    ) -> None:
        if isinstance(delivery, Resumed):
            viewer.pending.resume(delivery.publication, delivery.sequence)
        elif isinstance(delivery, StateChanged):
            viewer.reports.append(delivery.state)
        else:
            viewer.rejected = delivery
            self.void[subscriber] = self.viewers.pop(subscriber)

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
        said = picture
        total = len(shown.model.view(viewer.query))
        assert (said.generation, said.total, said.offset) == (shown.generation, total, start)
        assert viewer.told is not None
        assert viewer.told.state is Live.LIVE

    def rejections(self) -> list[Code]:
        return [viewer.rejected.code for viewer in self.void.values() if viewer.rejected]


def random_rows(rng: random.Random, table: Table, most: int = 12) -> list[dict[str, Value]]:
    return [making.random_row(rng, table) for _ in range(rng.randrange(most + 1))]


def three_rows() -> Watching:
    """A table with the rows 0:1, 0:2 and 0:3."""
    made = Watching()
    made.place(TABLE, rows(1, 2, 3))
    return made
