"""Whatever happens in whatever order, viewers end with the model's window, and never go back."""

from __future__ import annotations

import random

import pytest

from evergrid.model.table import Table
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live
from evergrid.views.view_query import Query
from tests.gateway.watching import (
    OTHER,
    TABLE,
    Shown,
    Viewer,
    Watching,
    random_rows,
)
from tests.store import making
from tests.support.naive_table import Value
from tests.support.soak import Counted, Soak

SEED = 20_261_116
SEQUENCES = 400
SOAK = 20_000
LOT = 100


class Anything:
    """Anything in any order, by many viewers of few different views."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.watching = Watching()
        self.queries = [self._query() for _ in range(5)]
        self.windows = [making.random_window(self.rng) for _ in range(4)]
        self.past: list[Viewer] = []
        self.earlier: list[Shown] = []

    def run(self) -> None:
        actions = [self._open, self._open, self._come_back, self._move, self._close, self._place]
        actions += [self._share]
        actions += [self._change] * 3 + [self._publish] * 3 + [self._withdraw]
        for _ in range(self.rng.randrange(5, 30)):
            self.rng.choice(actions)()
            if self.rng.random() < 0.5:
                self.watching.hub.build_views()
            if self.rng.random() < 0.2:
                self._settle()
        self._settle()

    def _query(self) -> Query:
        query = making.random_query(self.rng, TABLE)
        columns = self.rng.choice([(), ("text",), ("count", "topic"), ("note", "ts")])
        return Query("made", columns, query.filter, query.search, query.order)

    def _open(self) -> None:
        self._remember(
            self.watching.open(self.rng.choice(self.queries), self.rng.choice(self.windows))
        )

    def _come_back(self) -> None:
        """With the picture of an earlier connection, new or old."""
        had = [v for v in self.past if v.picture is not None and not v.moved]
        if had:
            before = self.rng.choice(had)
            picture = before.picture
            assert picture is not None
            viewer = self.watching.open(before.query, before.window, picture.sequence)
            viewer.picture, viewer.oldest = picture, before.oldest
            self._remember(viewer)

    def _remember(self, viewer: Viewer) -> None:
        self.past.append(viewer)
        if viewer.rejected is None:
            return
        table = self.watching.tables.get("made")
        if viewer.rejected.code is Code.UNKNOWN_COLUMN:
            assert table is not None
            assert not _answers(table.store.table, viewer.query, strictly=True)
        else:
            assert viewer.rejected.code is Code.TOO_MANY_VIEWS

    def _some(self) -> list[Viewer]:
        viewers = list(self.watching.viewers.values())
        return self.rng.sample(viewers, min(1, len(viewers)))

    def _move(self) -> None:
        for viewer in self._some():
            self.watching.move(viewer, self.rng.choice(self.windows))

    def _close(self) -> None:
        for viewer in self._some():
            self.watching.close(viewer)

    def _place(self) -> None:
        table = self.rng.choice([TABLE, TABLE, OTHER])
        self.watching.place(table, self._rows(table, 40))
        self.earlier.append(self.watching.tables["made"])

    def _share(self) -> None:
        """Once more what is shown, or what was shown before."""
        if "made" in self.watching.tables:
            self.watching.share(self.rng.choice([None, *self.earlier[-2:]]))

    def _withdraw(self) -> None:
        if "made" in self.watching.tables and self.rng.random() < 0.5:
            self.watching.withdraw()

    def _rows(self, table: Table, most: int) -> list[dict[str, Value]]:
        names = [column.name for column in table.columns]
        made = [one | {"fresh": "x"} for one in random_rows(self.rng, TABLE, most)]
        return [{name: one[name] for name in names} for one in made]

    def _change(self) -> None:
        shown = self.watching.tables.get("made")
        if shown is None:
            return
        if self.rng.random() < 0.8:
            self.watching.upsert(self._rows(shown.store.table, 12))
        else:
            self.watching.delete([making.random_id(self.rng, TABLE) for _ in range(8)])

    def _publish(self) -> None:
        self.watching.pass_time(self.rng.choice([0.0, 0.01, 0.1, 0.6]))
        self.watching.publish()
        for viewer in self.watching.viewers.values():
            if self.rng.random() < 0.6:  # the others read slowly
                viewer.take()
                self._assert_some_state(viewer)

    def _assert_some_state(self, viewer: Viewer) -> None:
        """What is shown is the model's window as it is or was, and not older than before."""
        if viewer.picture is None or viewer.moved:
            return
        states = self.watching.states["made"]
        for at in range(viewer.oldest, len(states)):
            if (
                states[at].generation == viewer.picture.generation
                and _answers(states[at].table, viewer.query)
                and self.watching.expected(viewer, states[at]) == viewer.rows()
            ):
                viewer.oldest = at
                return
        raise AssertionError(f"{viewer} shows what never was, or what was before")

    def _settle(self) -> None:
        self.watching.settle()
        shown = self.watching.tables.get("made")
        for viewer in self.watching.viewers.values():
            if shown is not None and _answers(shown.store.table, viewer.query):
                self.watching.assert_current(viewer)
                viewer.oldest = len(self.watching.states["made"]) - 1
            else:
                assert viewer.told is not None
                assert viewer.told.state is Live.WAITING
                assert ("does not fit" in viewer.told.message) == (shown is not None)
                assert bool(viewer.told.code) == (shown is not None)
        self._assert_counts()
        self.watching.pass_time(1.0)
        assert self.watching.publish() == 0, "something came although nothing had changed"

    def _assert_counts(self) -> None:
        """As many views and windows as are looked at, once nobody lingers."""
        self.watching.pass_time(self.watching.limits.linger_seconds)
        self.watching.publish()
        viewers = self.watching.viewers.values()
        views = {_view(v.query) for v in viewers}
        windows = {(_view(v.query), v.query.columns, v.window) for v in viewers}
        counts = self.watching.hub.counts()
        assert counts.views == len(views) == self.watching.hub.view_count("made")
        assert counts.windows == len(windows)
        assert counts.subscribers == len(viewers)


def _view(query: Query) -> object:
    return query.filter, " ".join(query.search.split()), query.order


def _answers(table: Table, query: Query, *, strictly: bool = False) -> bool:
    """Whether the table has what the view is made by, and `strictly` what it shows."""
    used = {by.column for by in query.order}
    used.update(query.columns if strictly else ())
    if query.filter is not None:
        used |= {str(condition.column) for condition in query.filter.conditions()}
    return used <= {column.name for column in table.columns}


def _run(seeds: range) -> None:
    for seed in seeds:
        try:
            Anything(seed).run()
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


def test_viewers_see_what_the_model_shows_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    making.make_small(monkeypatch)
    print(f"seeds from {SEED}")
    _run(range(SEED, SEED + SEQUENCES))


@pytest.mark.soak(part="sequences")
def test_viewers_see_what_the_model_shows_for_long(
    monkeypatch: pytest.MonkeyPatch, soak: Soak
) -> None:
    making.make_small(monkeypatch)
    for start in range(soak.seed, soak.seed + soak.figure(SOAK), LOT):
        _run(range(start, start + LOT))
        soak.count(Counted.RANDOM_SEQUENCES, LOT)
