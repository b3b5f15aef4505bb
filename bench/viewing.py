"""A hub with a large table and many views, fed by hand: what a batch costs, and a new view."""

from __future__ import annotations

import random
import time
from statistics import median

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench.joined import KEYS, JoinedRows, joined_table, start_for
from bench.load import now_us
from evergrid.gateway.engine.hub import Hub
from evergrid.gateway.engine.hub_types import HubLimits
from evergrid.gateway.engine.shared_view import PublicationTime
from evergrid.store.table_store import TableStore
from evergrid.views.view_query import Filter, Op, OrderBy, Query, Window

_TABLE = "final_ui"
_WINDOW = Window(0, 300)
_PIECE = 50_000
_WARM = 2  # batches before the measured ones; retention sorts the rows by age in the first
_NEW = 5  # one of five upserts is a new row
_COLUMNS = ("userId", "name", "email", "age", "accountType", "balance", "ts")
_FILTERS = (
    None,
    Filter(column="age", op=Op.GREATER, value=30),
    Filter(column="accountType", op=Op.EQUALS, value="savings"),
    Filter(column="email", op=Op.CONTAINS, value="an1"),
)
NEW_VIEWS = {
    "default order": Query(_TABLE),
    "by a number": Query(_TABLE, order=(OrderBy("balance", descending=True),)),
    "by a text": Query(_TABLE, order=(OrderBy("name"), OrderBy("accountType"))),
    "filtered": Query(_TABLE, filter=_FILTERS[1], order=(OrderBy("balance"),)),
    "searched": Query(_TABLE, search="smith 12"),
}


class Batches(msgspec.Struct, frozen=True, tag=True):
    """Apply batches of each size to a table of `rows` rows with `views` different views."""

    rows: int
    views: int
    upserts: tuple[int, ...]
    rounds: int


class Cost(msgspec.Struct, frozen=True):
    """CPU seconds of one batch, the median of each part; `frames` is how many it made."""

    upserts: int
    apply: float
    views: float
    publish: float
    frames: float

    @property
    def whole(self) -> float:
        return self.apply + self.views + self.publish


class Costs(msgspec.Struct, frozen=True):
    """`retention` is how long the first expiry took, `view_bytes` what all views hold."""

    costs: tuple[Cost, ...]
    retention: float
    view_bytes: int


class Creating(msgspec.Struct, frozen=True, tag=True):
    """Make each of the new views over a table of so many rows."""

    rows: int


class Created(msgspec.Struct, frozen=True):
    """Seconds until the first window is there, and the longest piece of work on the way."""

    name: str
    seconds: float
    longest: float


def run_batches(task: Batches) -> Costs:
    field = _Field(task.rows)
    field.open(task.views)
    retention = field.retain()
    costs = [field.measure(upserts, task.rounds) for upserts in task.upserts]
    return Costs(tuple(costs), retention, field.hub.view_bytes())


def run_creating(task: Creating) -> list[Created]:
    field = _Field(task.rows)
    return [field.create(name, query) for name, query in NEW_VIEWS.items()]


def different_queries() -> list[Query]:
    """Orders by each column both ways, each with several filters, well mixed."""
    queries = [
        Query(_TABLE, filter=wanted, order=(OrderBy(column, descending),))
        for column in _COLUMNS
        for descending in (False, True)
        for wanted in _FILTERS
    ]
    random.Random(3).shuffle(queries)
    return queries


class _Field:
    def __init__(self, rows: int) -> None:
        self._made = JoinedRows(KEYS, start_for(rows, now_us()))
        self._rng = np.random.default_rng(1)
        self._rows = self._next = rows
        self._version = 0
        self._store = TableStore(joined_table(rows))
        for start in range(0, rows, _PIECE):
            numbers = np.arange(start, min(rows, start + _PIECE))
            self._store.upsert(self._made.batch(numbers), 1)
        self.hub = Hub(
            HubLimits(frame_seconds=0.0, linger_seconds=0.0, max_views=1000, max_views_per_key=1000)
        )
        self.hub.tick = 2
        self.hub.show_table(_TABLE, self._store, 1)
        self._now = 1.0

    def open(self, views: int) -> None:
        for ticket, query in enumerate(different_queries()[:views], start=1):
            self.hub.open(ticket, query, _WINDOW, None, self._moment())
        while self.hub.build_views():
            pass
        self.hub.publish(self._moment())
        if len(self.hub.deliveries()) < views:
            raise AssertionError("some views gave no window")

    def retain(self) -> float:
        """Have retention take its first rows, which costs more than any later ones."""
        self._apply(self._numbers(_NEW))
        began = time.process_time()
        self._expire()
        return time.process_time() - began

    def measure(self, upserts: int, rounds: int) -> Cost:
        seen = [self._batch(upserts) for _ in range(_WARM + rounds)][_WARM:]
        apply, views, publish, frames = (median(part) for part in zip(*seen, strict=True))
        return Cost(upserts, apply, views, publish, frames)

    def create(self, name: str, query: Query) -> Created:
        """One view alone, from the wish to its first window."""
        pieces: list[float] = []
        began = last = time.perf_counter()

        def done() -> None:
            nonlocal last
            before, last = last, time.perf_counter()
            pieces.append(last - before)

        self.hub.open(1, query, _WINDOW, None, self._moment())
        done()
        while self.hub.build_views():
            done()
        self.hub.publish(self._moment())
        published = len(self.hub.deliveries())
        done()
        if not published:
            raise AssertionError(f"no window came of the view {name}")
        self.hub.close(1, self._now)
        self.hub.publish(self._moment())  # nobody looks: it goes
        return Created(name, last - began, max(pieces))

    def _batch(self, upserts: int) -> tuple[float, float, float, float]:
        """CPU of applying, of the views, of publishing; and how many frames came of it."""
        numbers = self._numbers(upserts)
        batch = self._made.batch(numbers, self._version)
        times = [time.process_time()]
        self.hub.tick += 1
        applied = self._store.upsert(batch, self.hub.tick)
        times.append(time.process_time())
        self.hub.update(self._store, applied)
        self._expire()
        times.append(time.process_time())
        self.hub.publish(self._moment())
        times.append(time.process_time())
        frames = len(self.hub.deliveries())
        first, second, third = np.diff(times).tolist()
        return first, second, third, float(frames)

    def _numbers(self, upserts: int) -> NDArray[np.int64]:
        self._version += 1
        new = upserts // _NEW
        oldest = self._next - self._rows
        known = self._rng.choice(self._rows, upserts - new, replace=False) + oldest
        numbers = np.concatenate((known, np.arange(self._next, self._next + new)))
        self._next += new
        return numbers

    def _apply(self, numbers: NDArray[np.int64]) -> None:
        self.hub.tick += 1
        batch = self._made.batch(numbers, self._version)
        self.hub.update(self._store, self._store.upsert(batch, self.hub.tick))

    def _expire(self) -> None:
        self.hub.tick += 1
        self.hub.update(self._store, self._store.expire(now_us()))

    def _moment(self) -> PublicationTime:
        self._now += 1.0
        return PublicationTime(0, self.hub.tick, self._now, now_us())
