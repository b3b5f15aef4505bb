"""Memory is known, does not grow with what is gone, and keeps to its cap."""

from __future__ import annotations

import random

import numpy as np
import pytest

from evergrid.store import text_pool as pool
from evergrid.store.table_store import TableStore
from evergrid.views.view import View
from evergrid.views.view_query import Query
from tests.store import making
from tests.support.naive_table import NaiveTable, Row, Value

SEED = 20_261_116
TABLE = making.made_table()
BATCH = 200
MEGABYTE = 1 << 20


def rows(start: int, text: str, count: int = BATCH) -> list[Row]:
    """New rows, each newer than all before, with texts of their own."""
    blank: dict[str, Value] = {column.name: None for column in TABLE.columns}
    return [
        blank
        | {"partition": 0, "offset": n, "ts": n, "text": f"{text}{n}", "money": making.MONEY[1]}
        for n in range(start, start + count)
    ]


def test_rows_that_come_and_go_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_PACK_FROM_BYTES", 10_000)
    store = TableStore(TABLE)
    sizes = []
    for turn in range(60):
        made = rows(turn * BATCH, "x" * 50)
        store.upsert(making.batch(TABLE, made), turn + 1)
        sizes.append(store.nbytes)
        store.delete([f"0:{row['offset']}" for row in made])
        assert len(store) == 0
    assert max(sizes[30:]) <= 1.1 * max(sizes[:30])


def test_rows_that_change_again_and_again_leave_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "_PACK_FROM_BYTES", 10_000)
    store = TableStore(TABLE)
    sizes = []
    for turn in range(60):
        store.upsert(making.batch(TABLE, rows(0, f"{turn} " + "x" * 50)), turn + 1)
        sizes.append(store.nbytes)
    assert max(sizes[30:]) <= 1.1 * max(sizes[:30])
    slots = store.slots(0, store.end)
    texts = store.take(slots, ["text"])[0].to_pylist()
    assert texts == [f"59 {'x' * 50}{n}" for n in range(BATCH)]


@pytest.mark.parametrize("length", [0, 20, 300])
def test_a_table_keeps_to_its_memory_and_to_as_many_rows_as_fit(length: int) -> None:
    store = TableStore(TABLE, max_bytes=2 * MEGABYTE)
    model = NaiveTable(TABLE)
    view = View(store, None, "", ())
    kept = []
    for turn in range(150):
        made = rows(turn * BATCH, "x" * length)
        applied = store.upsert(making.batch(TABLE, made), turn + 1)
        view.update(store.rows(applied.changed), applied.removed)
        model.upsert(made)
        gone = store.expire(0)
        view.update(store.rows(gone.changed), gone.removed)
        model.drop_oldest(len(gone.removed))
        assert store.nbytes < 1.5 * 2 * MEGABYTE
        kept.append(len(store))
    expected = [model.row_id(row) for row in model.view(Query("made"))]
    assert store.row_ids(view.between(0, len(store))) == expected, (
        "the oldest went, and are seen to"
    )
    full = kept[100:]
    assert min(full) > 0.8 * max(full), "no more go than must"
    per_row = 2 * MEGABYTE / max(full)
    assert per_row < 600 + 3 * length


def test_a_table_that_is_full_and_rests_keeps_its_rows() -> None:
    store = TableStore(TABLE, max_bytes=MEGABYTE)
    for turn in range(60):
        store.upsert(making.batch(TABLE, rows(turn * BATCH, "x" * 20)), turn + 1)
    store.expire(0)
    left = len(store)
    assert left > 1000
    for _ in range(50):
        assert not store.expire(0).removed.size
    assert len(store) == left


def test_rows_that_grow_make_room_by_themselves() -> None:
    store = TableStore(TABLE, max_bytes=2 * MEGABYTE)
    count = 3000
    for turn in range(12):
        made = rows(0, "x" * 100 * turn, count)
        known = set(store.row_ids(store.slots(0, store.end)))
        if turn:
            made = [row for row in made if f"0:{row['offset']}" in known]
        store.upsert(making.batch(TABLE, made), turn + 1)
        store.expire(0)
        assert store.nbytes < 1.5 * 2 * MEGABYTE
    left = sorted(int(row_id[2:]) for row_id in store.row_ids(store.slots(0, store.end)))
    assert 0 < len(left) < count
    assert left == list(range(count - len(left), count)), "the newest are the ones that stay"


def test_the_bytes_of_a_table_are_those_of_its_arrays() -> None:
    store = TableStore(TABLE)
    rng = random.Random(SEED)
    store.upsert(making.batch(TABLE, [making.random_row(rng, TABLE) for _ in range(50)]), 1)
    few = store.nbytes
    store.upsert(making.batch(TABLE, rows(1000, "x" * 100, 20_000)), 2)
    texts = 20_000 * 100
    assert few < 500_000
    assert few + texts < store.nbytes < few + 2 * texts + 20_000 * 400
    assert np.all(store.stamps(store.slots(0, store.end)) >= 1)
