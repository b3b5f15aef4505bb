"""An order is cut into buckets as it fills, and forgets those that nobody is in."""

from __future__ import annotations

import random

import numpy as np
import pytest

from evergrid.store.growing_array import Slots
from evergrid.store.ordered_rows import OrderedRows
from evergrid.store.sort_keys import Keys
from tests.store import making

SEED = 20_261_116
SIZE = 400


class Numbers:
    """Slots ordered by a number each, which may change."""

    def __init__(self) -> None:
        self.values = np.zeros(SIZE, np.uint64)
        self.rows = OrderedRows(self.keys)
        self.rows.reserve(SIZE)

    def keys(self, slots: Slots) -> Keys:
        own = slots.astype(np.uint64)  # so that no two are equal
        return Keys([self.values[slots], own], [None, None])

    def put(self, slots: Slots, values: Slots) -> None:
        self.values[slots] = values.astype(np.uint64)
        self.rows.put(slots, self.keys(slots))

    def ranked(self) -> list[int]:
        there = np.flatnonzero(self.rows.contains(np.arange(SIZE)))
        return sorted(there.tolist(), key=lambda slot: (int(self.values[slot]), slot))

    @property
    def buckets(self) -> int:
        return len(self.rows._counts)


def test_rows_are_found_by_their_rank_whatever_came_and_went(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    making.make_small(monkeypatch)
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    numbers = Numbers()
    for _ in range(300):
        slots = rng.choice(SIZE, rng.integers(1, 60), replace=False)
        if rng.random() < 0.6:
            numbers.put(slots, rng.integers(0, 50, len(slots)))
        else:
            numbers.rows.remove(slots)
        ranked = numbers.ranked()
        start, stop = sorted(rng.integers(0, SIZE, 2).tolist())
        assert len(numbers.rows) == len(ranked)
        assert numbers.rows.between(start, stop).tolist() == ranked[start:stop]
        walked = [slot for piece in numbers.rows.walk(start, stop) for slot in piece.tolist()]
        assert walked == ranked[start:stop]


def test_buckets_are_never_many_and_none_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    making.make_small(monkeypatch)
    rng = random.Random(SEED)
    numbers = Numbers()
    most = 0
    for turn in range(400):  # ever higher numbers come and the lowest go, as with time
        numbers.put(np.array([turn % SIZE]), np.array([turn]))
        if len(numbers.rows) > 60:
            numbers.rows.remove(numbers.rows.between(0, rng.randrange(1, 10)))
        most = max(most, numbers.buckets)
        assert numbers.buckets == 1 or int(numbers.rows._counts.min()) > 0
    assert 1 < most <= 16
    numbers.rows.remove(np.arange(SIZE))
    assert (numbers.buckets, len(numbers.rows)) == (1, 0)


def test_a_foreseen_order_is_cut_before_it_is_filled() -> None:
    numbers = Numbers()
    numbers.values[:] = np.arange(SIZE, dtype=np.uint64)[::-1]
    slots = np.arange(SIZE)
    numbers.rows.foresee(numbers.keys(slots), 50_000)
    assert numbers.buckets > 2
    numbers.rows.put(slots, numbers.keys(slots))
    assert numbers.rows.between(0, SIZE).tolist() == slots[::-1].tolist()
