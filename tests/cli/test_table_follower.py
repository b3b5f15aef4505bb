"""Which changes between two states of the newest rows are reported, and which are not."""

from __future__ import annotations

import pyarrow as pa

from evergrid.cli.table_follower import NewestRows, newer_rows, row_diff, some_missed
from evergrid.client import Change, ChangeKind

NEVER = 2**62  # microseconds; beyond what Python's own times hold


def rows_of(*rows: tuple[str, int], has_older: bool = False, ts: int = 0) -> NewestRows:
    """Rows by id and value, each a microsecond newer than the one before."""
    table = pa.table(
        {
            "_id": pa.array([row_id for row_id, _ in rows], pa.string()),
            "value": pa.array([value for _, value in rows], pa.int64()),
            "ts": pa.array([ts + at for at in range(len(rows))], pa.timestamp("us", "UTC")),
        }
    )
    return NewestRows(table, has_older)


def kept(*rows: tuple[str, int], has_older: bool = False) -> NewestRows:
    """The same with one time for all, so that a row's place says nothing about its values."""
    table = rows_of(*rows).rows
    times = pa.array([NEVER] * len(rows), pa.timestamp("us", "UTC"))
    return NewestRows(table.set_column(2, "ts", times), has_older)


MARKS = {ChangeKind.ADDED: "+", ChangeKind.UPDATED: "~", ChangeKind.REMOVED: "-"}


def told(changes: list[Change]) -> list[str]:
    return [f"{MARKS[each.kind]}{each.id}" for each in changes]


def test_rows_that_come_and_rows_that_change_are_told_in_their_order() -> None:
    before = kept(("a", 1), ("b", 1))
    after = kept(("a", 1), ("late", 1), ("b", 2), ("c", 1))
    assert told(row_diff(before, after)) == ["+late", "~b", "+c"]


def test_nothing_is_told_when_nothing_changed() -> None:
    same = kept(("a", 1))
    assert row_diff(same, kept(("a", 1))) == []


def test_rows_that_make_room_for_others_are_not_deleted() -> None:
    before = kept(("a", 1), ("b", 1), ("c", 1), has_older=True)
    after = kept(("c", 1), ("d", 1), ("e", 1), has_older=True)
    assert told(row_diff(before, after)) == ["+d", "+e"]


def test_rows_too_old_to_be_kept_are_not_deleted() -> None:
    assert told(row_diff(kept(("a", 1), ("b", 1)), kept(("b", 1)))) == []


def test_a_row_that_is_missing_between_others_was_deleted() -> None:
    before = kept(("a", 1), ("b", 1), ("c", 1))
    assert told(row_diff(before, kept(("a", 1), ("c", 1)))) == ["-b"]


def test_an_older_row_that_comes_in_for_a_deleted_one_is_not_new() -> None:
    before = kept(("b", 1), ("c", 1), ("d", 1), has_older=True)
    after = kept(("a", 1), ("b", 1), ("d", 1))
    assert told(row_diff(before, after)) == ["-c"]


def test_a_late_row_before_all_others_is_new_when_the_state_has_the_whole_table() -> None:
    assert told(row_diff(kept(("b", 1)), kept(("a", 1), ("b", 1)))) == ["+a"]


def test_more_rows_than_a_state_holds_are_reported_as_missed() -> None:
    before = kept(("a", 1), ("b", 1))
    after = kept(("y", 1), ("z", 1), has_older=True)
    assert some_missed(before, after)
    assert told(row_diff(before, after)) == ["+y", "+z"]
    assert not some_missed(before, kept(("b", 1), ("c", 1), has_older=True))
    assert not some_missed(kept(), kept(("a", 1)))


def test_values_are_those_of_http_answers() -> None:
    (change,) = row_diff(kept(), kept(("a", 1)))
    assert change.row == {"value": 1, "ts": "148108-07-06T14:00:27.387904Z"}


def test_a_table_in_anothers_place_goes_on_with_what_is_newer() -> None:
    before = rows_of(("a", 1), ("b", 1), ts=10)
    after = rows_of(("a:0", 1), ("b:0", 1), ("c:0", 1), ts=10)
    for shown, time, ids in (
        (before, "ts", ["c:0"]),
        (rows_of(), "ts", ["a:0", "b:0", "c:0"]),
        (before, None, ["a:0", "b:0", "c:0"]),
    ):
        assert newer_rows(shown, after, time)["_id"].to_pylist() == ids
