"""An export has every row once, while the table goes on changing."""

from __future__ import annotations

import gc
import random

import pytest

from evergrid.gateway.engine import export as exporting
from evergrid.gateway.engine.export import Export
from evergrid.store.table_store import ApplyResult, TableStore
from evergrid.views import view
from evergrid.views.view_query import Fault, OrderBy, Query, QueryError, Window
from tests.gateway.watching import TABLE as PLAIN
from tests.gateway.watching import Watching, row, rows, shown_rows
from tests.store import making
from tests.support.naive_table import NaiveTable, Row, Value

SEED = 20_261_116
SEQUENCES = 200
TABLE = making.made_table()


class Exporting:
    """A table, its model, and one export of it."""

    def __init__(self, seed: int, most: int = 40) -> None:
        self.rng = random.Random(seed)
        self.store = TableStore(TABLE)
        self.model = NaiveTable(TABLE)
        self.tick = 1
        self.export: Export | None = None
        self._upsert([making.random_row(self.rng, TABLE) for _ in range(most)])
        self.staying = set(self.model.rows)

    def begin(self, query: Query, window: Window | None = None) -> Export:
        self.export = Export(self.store, query, window, self.tick)
        self.staying = set(self.model.rows)
        return self.export

    def change(self) -> None:
        self.tick += 1
        if self.rng.random() < 0.6:
            self._upsert([making.random_row(self.rng, TABLE) for _ in range(8)])
        else:
            ids = [making.random_id(self.rng, TABLE) for _ in range(8)]
            self._tell(self.store.delete(ids))
            self.model.delete(ids)
        self.staying &= set(self.model.rows)

    def _upsert(self, rows: list[dict[str, Value]]) -> None:
        self._tell(self.store.upsert(making.batch(TABLE, rows), self.tick))
        self.model.upsert(rows)

    def _tell(self, applied: ApplyResult) -> None:
        if self.export is not None:
            changed = self.store.rows(applied.changed)
            self.export.update(self.store, changed, applied.removed)

    def ids(self, rows: list[Row]) -> list[str]:
        return [self.model.row_id(row) for row in rows]


def all_ids(export: Export) -> list[str]:
    ids: list[str] = []
    while (batch := export.step()) is not None:
        ids += batch.column("_id").to_pylist()
    return ids


@pytest.mark.parametrize("small", [True, False])
def test_of_a_table_that_rests_it_is_the_models_window(
    small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:
        making.make_small(monkeypatch)
    print(f"seeds from {SEED}")
    for seed in range(SEED, SEED + SEQUENCES // 2):
        one = Exporting(seed)
        query = making.random_query(one.rng, TABLE)
        window = one.rng.choice([None, making.random_window(one.rng)])
        export = one.begin(query, window)
        while not export.prepared:
            export.prepare()
        _, expected = one.model.window(query, window or Window(0, 1000))
        assert all_ids(export) == one.ids(expected), seed


def test_rows_that_stay_come_once_each_and_new_ones_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    making.make_small(monkeypatch)
    print(f"seeds from {SEED}")
    for seed in range(SEED, SEED + SEQUENCES):
        try:
            _run(Exporting(seed))
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


def _run(one: Exporting) -> None:
    query = making.random_query(one.rng, TABLE)
    export = one.begin(query)
    started = set(one.staying)
    while not export.prepared:
        if one.rng.random() < 0.5:
            one.change()
        export.prepare()
    expected = one.ids(one.model.view(query))
    at_once = len(expected) <= exporting.BATCH
    there = set(expected) if at_once else set(expected) & one.staying
    sent: list[str] = []
    while (batch := export.step()) is not None:
        taken = shown_rows(batch)
        sent += [str(cells.pop("_id")) for cells in taken]
        if not at_once:
            held = [one.model.rows[row_id] for row_id in sent[len(sent) - len(taken) :]]
            assert taken == held, "rows come as they are when they are sent"
        if one.rng.random() < 0.7:
            one.change()
    assert len(sent) == len(set(sent)), "no row comes twice"
    if at_once:
        assert sent == expected, "what is small is of one moment"
        return
    assert set(sent) <= there, "none comes that was not there all the time"
    assert there & one.staying <= set(sent), "all come that stay"
    assert set(sent) <= started


def test_its_order_holds_although_rows_changed_places_while_it_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    making.make_small(monkeypatch)
    query = Query("made", order=(OrderBy("count", descending=True), OrderBy("text")))
    for seed in range(SEED, SEED + SEQUENCES):
        one = Exporting(seed, 60)
        export = one.begin(query)
        while not export.prepared:
            export.prepare()
            if not export.prepared:
                one.change()
        expected = [i for i in one.ids(one.model.view(query)) if i in one.staying]
        assert all_ids(export) == expected, seed


def test_the_hub_tells_exports_of_changes_as_it_tells_views(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(view, "_PIECE", 2)
    watching = Watching()
    watching.place(PLAIN, rows(1, 2, 3, 4))
    export = Export(watching.tables["made"].store, Query("made"), None, watching.hub.tick)
    watching.hub.exports.add(export)
    export.prepare()
    watching.upsert([row(1, ts=9)])
    watching.delete(["0:2"])
    while not export.prepared:
        export.prepare()
    assert all_ids(export) == ["0:3", "0:4", "0:1"]


def test_the_hub_keeps_no_export_that_nobody_takes() -> None:
    watching = Watching()
    watching.place(PLAIN, rows(1))
    watching.hub.exports.add(Export(watching.tables["made"].store, Query("made"), None, 1))
    gc.collect()
    assert not watching.hub.exports


def test_it_is_made_in_pieces_and_given_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "_PIECE", 10)
    monkeypatch.setattr(exporting, "BATCH", 7)
    store = TableStore(TABLE)
    rng = random.Random(SEED)
    made = [making.random_row(rng, TABLE) | {"offset": n, "partition": 0} for n in range(35)]
    store.upsert(making.batch(TABLE, made), 1)
    export = Export(store, Query("made"), None, 1)
    pieces = 0
    while not export.prepared:
        export.prepare()
        pieces += 1
    sizes = []
    while (batch := export.step()) is not None:
        sizes.append(batch.num_rows)
    assert pieces == 4
    assert sizes[0] == 0, "the first one has the columns alone"
    assert sum(sizes) == 35
    assert max(sizes) <= 7


def test_columns_come_as_they_were_asked_for() -> None:
    one = Exporting(SEED)
    export = one.begin(Query("made", ("wide", "text")))
    export.prepare()
    batch = export.step()
    assert batch is not None
    assert batch.schema.names == ["_id", "wide", "text"]
    with pytest.raises(QueryError) as caught:
        one.begin(Query("made", ("nothing",)))
    assert caught.value.fault is Fault.UNKNOWN_COLUMN
