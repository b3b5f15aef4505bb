"""Views show what a naive model shows that looks at every row and sorts everything anew."""

from __future__ import annotations

import random

import pytest

from evergrid.model.table import Retention, Table
from evergrid.store.table_store import ApplyResult, TableStore
from evergrid.views.view import View
from evergrid.views.view_query import Query
from tests.store import making
from tests.support.naive_table import NaiveTable
from tests.support.soak import Counted, Soak

SEED = 20_261_116
SEQUENCES = 300
REAL_SIZES = 50
SOAK = 50_000
LOT = 100


class Sequence:
    """One store, the model of it, and views made at any time."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.table = _random_table(self.rng)
        self.store = TableStore(self.table)
        self.model = NaiveTable(self.table)
        self.views: list[tuple[Query, View]] = []
        self.tick = 1
        self.now = 0

    def run(self) -> None:
        for _ in range(self.rng.randrange(2, 7)):
            if len(self.views) < 4 and self.rng.random() < 0.6:
                query = making.random_query(self.rng, self.table)
                view = View(self.store, query.filter, query.search, query.order)
                self.views.append((query, view))
            for _ in range(self.rng.randrange(1, 3)):
                self.change()
            self.look()

    def change(self) -> None:
        """A batch, and what retention makes of it; views that are being made grow or not."""
        self.tick += 1
        if self.rng.random() < 0.75:
            rows = [
                making.random_row(self.rng, self.table)
                for _ in range(self.rng.choice([1, 3, 8, 30]))
            ]
            self.follow(self.store.upsert(making.batch(self.table, rows), self.tick))
            self.model.upsert(rows)
        else:
            ids = [
                making.random_id(self.rng, self.table) for _ in range(self.rng.choice([1, 5, 40]))
            ]
            self.follow(self.store.delete(ids))
            self.model.delete(ids)
        if self.rng.random() < 0.5:
            self.now += self.rng.randrange(3) * 1_000_000
            self.follow(self.store.expire(self.now))
            self.model.expire(self.now)

    def follow(self, applied: ApplyResult) -> None:
        changed = self.store.rows(applied.changed)
        for _, view in self.views:
            view.update(changed, applied.removed)
            if self.rng.random() < 0.3 and not view.complete:
                view.grow()

    def look(self) -> None:
        assert len(self.store) == len(self.model.rows)
        for query, view in self.views:
            if self.rng.random() < 0.3:
                continue  # so that views are met in the middle of growing, too
            while not view.complete:
                view.grow()
            wanted = self.model.view(query)
            ids = [self.model.row_id(row) for row in wanted]
            slots = view.between(0, len(wanted) + 1)
            assert self.store.row_ids(slots) == ids, query
            assert making.shown(self.store, slots) == wanted
            assert len(view) == len(wanted)
            start = self.rng.randrange(-2, len(ids) + 3)
            stop = start + self.rng.randrange(12)
            some = ids[max(start, 0) : max(stop, 0)]
            assert self.store.row_ids(view.between(start, stop)) == some
            walked = [i for piece in view.walk(start, stop) for i in self.store.row_ids(piece)]
            assert walked == some


def _random_table(rng: random.Random) -> Table:
    retention = Retention(rng.choice([None, None, 0, 7, 25]), rng.choice([None, None, 3, 10]))
    return making.made_table(
        topics=rng.random() < 0.3, version=rng.random() < 0.6, retention=retention
    )


def _run(seeds: range) -> None:
    for seed in seeds:
        try:
            Sequence(seed).run()
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


def test_random_sequences_show_what_the_model_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    making.make_small(monkeypatch)
    print(f"seeds from {SEED}")
    _run(range(SEED, SEED + SEQUENCES))


def test_so_do_some_with_nothing_made_small() -> None:
    print(f"seeds from {SEED}")
    _run(range(SEED, SEED + REAL_SIZES))


@pytest.mark.soak(part="sequences")
def test_random_sequences_for_long(monkeypatch: pytest.MonkeyPatch, soak: Soak) -> None:
    making.make_small(monkeypatch)
    for start in range(soak.seed, soak.seed + soak.figure(SOAK), LOT):
        _run(range(start, start + LOT))
        soak.count(Counted.RANDOM_SEQUENCES, LOT)
