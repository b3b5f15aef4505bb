"""A table in memory: rows by id, the newest version, and what retention takes away."""

from __future__ import annotations

import random

import pytest

from evergrid.model.table import Retention, Table
from evergrid.store.table_store import TableStore
from tests.store import making
from tests.support.naive_table import NaiveTable, Value

SEED = 20_261_116
TABLE = making.made_table()


def row(offset: int, **cells: Value) -> dict[str, Value]:
    blank: dict[str, Value] = {column.name: None for column in TABLE.columns}
    return blank | {"partition": 0, "offset": offset, "ts": offset * 1_000_000} | cells


class Kept:
    """A store with what it holds in plain sight."""

    def __init__(self, table: Table = TABLE, max_bytes: int | None = None) -> None:
        self.store = TableStore(table, max_bytes=max_bytes)
        self.tick = 0

    def upsert(self, *rows: dict[str, Value]) -> list[str]:
        self.tick += 1
        applied = self.store.upsert(making.batch(self.store.table, rows), self.tick)
        assert not applied.removed.size
        return self.store.row_ids(applied.changed)

    def rows(self) -> dict[str, dict[str, Value]]:
        slots = self.store.slots(0, self.store.end)
        return dict(zip(self.store.row_ids(slots), making.shown(self.store, slots), strict=True))


def test_rows_come_are_changed_and_go_by_their_ids() -> None:
    kept = Kept()
    assert kept.upsert(row(1), row(2)) == ["0:1", "0:2"]
    assert kept.upsert(row(2, text="new"), row(3)) == ["0:2", "0:3"]
    assert len(kept.store.delete(["0:1", "0:9", "nothing", "0:1"]).removed) == 1
    assert kept.rows() == {"0:2": row(2, text="new"), "0:3": row(3)}
    assert kept.upsert() == []
    assert len(kept.store) == 2


def test_of_several_changes_in_a_batch_the_newest_version_stays() -> None:
    kept = Kept()
    kept.upsert(row(1, version=2, text="a"), row(1, version=3, text="b"), row(1, text="c"))
    assert kept.rows() == {"0:1": row(1, version=3, text="b")}
    kept.upsert(row(1, version=3, text="same"), row(1, version=1))
    assert kept.rows() == {"0:1": row(1, version=3, text="same")}
    assert kept.upsert(row(1, version=2)) == []


def test_without_versions_the_last_one_stays() -> None:
    kept = Kept(making.made_table(version=False))
    kept.upsert(row(1, version=2, text="a"), row(2), row(1, version=1, text="b"))
    assert kept.rows() == {"0:1": row(1, version=1, text="b"), "0:2": row(2)}


def test_a_row_that_was_deleted_may_come_back_older() -> None:
    kept = Kept()
    kept.upsert(row(1, version=9))
    kept.store.delete(["0:1"])
    kept.upsert(row(1, version=1))
    assert kept.rows() == {"0:1": row(1, version=1)}


def test_a_row_stays_in_its_slot_and_a_free_one_is_used_again() -> None:
    kept = Kept()
    kept.upsert(*(row(n) for n in range(10)))
    kept.store.delete(["0:3"])
    kept.upsert(row(20), row(5, text="x"))
    assert kept.store.end == 10


@pytest.mark.parametrize(
    "odd", ["", ":", "0", "0:1:2", "a:b", "--0:1", "0:01", "0:+1", "0: 1", "0:1_0", "٠:١", "-0:1"]
)
def test_a_text_that_is_no_id_deletes_nothing(odd: str) -> None:
    kept = Kept()
    kept.upsert(row(0), row(1), row(10))
    for row_id in (odd, f"{2**63}:1", f"0:{-(2**63) - 1}", "0:" + "1" * 5000):
        assert not kept.store.delete([row_id]).removed.size
    assert len(kept.store) == 3


def test_ids_may_be_at_the_ends_of_their_type_and_have_texts_in_them() -> None:
    table = making.made_table(topics=True)
    kept = Kept(table)
    ends = [(making.HIGHEST, making.LOWEST), (making.LOWEST, making.HIGHEST), (-1, 0)]
    rows = [
        row(offset, partition=partition, topic=topic, ts=0)
        for partition, offset in ends
        for topic in ("a", "b.c")
    ]
    ids = kept.upsert(*rows)
    assert ids == [f"{one['topic']}:{one['partition']}:{one['offset']}" for one in rows]
    kept.store.delete(ids[::2])
    assert list(kept.rows()) == ids[1::2]


def test_only_so_many_rows_are_kept_and_the_oldest_go() -> None:
    kept = Kept(making.made_table(retention=Retention(rows=3)))
    kept.upsert(row(5), row(1), row(4), row(2), row(3))
    gone = kept.store.expire(0).removed
    assert sorted(kept.rows()) == ["0:3", "0:4", "0:5"]
    assert len(gone) == 2
    assert not kept.store.expire(0).removed.size


def test_no_row_is_kept_that_is_too_old() -> None:
    kept = Kept(making.made_table(retention=Retention(age_seconds=10)))
    kept.upsert(*(row(n) for n in range(-3, 5)))
    kept.store.expire(10 * 1_000_000)
    assert min(one["ts"] for one in kept.rows().values() if isinstance(one["ts"], int)) == 0
    kept.store.expire(13 * 1_000_000)
    assert sorted(kept.rows()) == ["0:3", "0:4"]
    kept.upsert(row(4, ts=50 * 1_000_000))
    kept.store.expire(60 * 1_000_000)
    assert sorted(kept.rows()) == ["0:4"]
    kept.store.expire(61 * 1_000_000)
    assert kept.rows() == {}


def test_what_was_there_at_a_tick_is_told_from_what_came_into_its_slot() -> None:
    kept = Kept()
    kept.upsert(row(1), row(2))
    slots = kept.store.slots(0, 2)
    tick = kept.tick
    kept.upsert(row(1, text="changed"))
    assert kept.store.present_since(slots, tick).tolist() == [True, True]
    kept.store.delete(["0:2"])
    assert kept.store.present_since(slots, tick).tolist() == [True, False]
    kept.upsert(row(3))
    assert kept.store.present_since(slots, tick).tolist() == [True, False]


def test_random_tables_hold_what_the_model_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    making.make_small(monkeypatch)
    print(f"seeds from {SEED}")
    for seed in range(SEED, SEED + 150):
        rng = random.Random(seed)
        table = making.made_table(topics=rng.random() < 0.5, version=rng.random() < 0.5)
        kept, model = Kept(table), NaiveTable(table)
        for _ in range(rng.randrange(1, 12)):
            rows = [making.random_row(rng, table) for _ in range(rng.randrange(30))]
            ids = [making.random_id(rng, table) for _ in range(rng.randrange(20))]
            kept.upsert(*rows)
            model.upsert(rows)
            kept.store.delete(ids)
            model.delete(ids)
            assert kept.rows() == model.rows, seed
