"""Changes lead from one state of a window to the next, row by row."""

from __future__ import annotations

import random

import pyarrow as pa

from evergrid.client.live_window import Change, ChangeKind, changes_between
from tests.client.gateway_messages import SCHEMA, Row, batch, row

SEED = 20_261_116
PAIRS = 400


def table(rows: list[Row]) -> pa.Table:
    return pa.Table.from_batches([batch(rows)])


def told(before: list[Row] | None, after: list[Row]) -> list[Change]:
    return list(changes_between(None if before is None else table(before), table(after)))


def values(item: Row) -> dict[str, object]:
    return {name: value for name, value in item.items() if name != "_id"}


def test_the_first_rows_are_added_from_top_to_bottom() -> None:
    assert told(None, [row(2), row(1)]) == [
        Change(ChangeKind.ADDED, "0:2", {"name": "ann", "size": 1.0}),
        Change(ChangeKind.ADDED, "0:1", {"name": "ann", "size": 1.0}),
    ]


def test_what_left_comes_first_and_has_no_row() -> None:
    assert told([row(1), row(2)], [row(2), row(3)]) == [
        Change(ChangeKind.REMOVED, "0:1"),
        Change(ChangeKind.ADDED, "0:3", {"name": "ann", "size": 1.0}),
    ]


def test_a_row_that_only_moved_has_not_changed() -> None:
    assert told([row(1), row(2)], [row(2), row(1)]) == []


def test_no_value_and_nan_are_the_same_as_themselves() -> None:
    before = [row(1, None, float("nan")), row(2, "a", None)]
    assert told(before, before) == []
    changed = told(before, [row(1, None, 0.0), row(2, None, None)])
    assert [(change.kind, change.id) for change in changed] == [
        (ChangeKind.UPDATED, "0:1"),
        (ChangeKind.UPDATED, "0:2"),
    ]


def test_with_other_columns_every_row_has_changed() -> None:
    wider = pa.schema([*SCHEMA, ("more", pa.bool_())])
    after = pa.Table.from_batches([batch([{**row(1), "more": True}], wider)])
    [change] = changes_between(table([row(1)]), after)
    assert change.kind is ChangeKind.UPDATED
    assert change.row == {"name": "ann", "size": 1.0, "more": True}


def test_applying_random_changes_gives_the_rows() -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    for _ in range(PAIRS):
        before, after = (
            [
                row(number, rng.choice("abc"), rng.choice([None, 1.0, float("nan")]))
                for number in rng.sample(range(12), rng.randrange(12))
            ]
            for _ in range(2)
        )
        held = {str(item["_id"]): values(item) for item in before}
        for change in told(before, after):
            if change.row is None:
                del held[change.id]
            else:
                assert (change.kind is ChangeKind.UPDATED) == (change.id in held)
                assert repr(held.get(change.id)) != repr(change.row)
                held[change.id] = change.row
        expected = {str(item["_id"]): values(item) for item in after}
        assert {key: repr(item) for key, item in held.items()} == {
            key: repr(item) for key, item in expected.items()
        }
