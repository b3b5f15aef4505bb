"""What is told between two looks at the newest rows, and what is not."""

from __future__ import annotations

import pyarrow as pa

from evergrid.cli.row_diff import Look, News, newer, news

NEVER = 2**62  # microseconds; beyond what Python's own times hold


def look(*rows: tuple[str, int], older: bool = False, ts: int = 0) -> Look:
    """Rows by id and value, each a microsecond newer than the one before."""
    table = pa.table(
        {
            "_id": pa.array([row_id for row_id, _ in rows], pa.string()),
            "value": pa.array([value for _, value in rows], pa.int64()),
            "ts": pa.array([ts + at for at in range(len(rows))], pa.timestamp("us", "UTC")),
        }
    )
    return Look(table, older)


def kept(*rows: tuple[str, int], older: bool = False) -> Look:
    """The same with one time for all, so that a row's place says nothing about its values."""
    table = look(*rows).rows
    times = pa.array([NEVER] * len(rows), pa.timestamp("us", "UTC"))
    return Look(table.set_column(2, "ts", times), older)


def told(news: News) -> list[str]:
    there = zip(news.marks, news.rows["_id"].to_pylist(), strict=True)
    return [*(f"-{row_id}" for row_id in news.gone), *(f"{m.value}{row_id}" for m, row_id in there)]


def test_rows_that_come_and_rows_that_change_are_told_in_their_order() -> None:
    before = kept(("a", 1), ("b", 1))
    after = kept(("a", 1), ("late", 1), ("b", 2), ("c", 1))
    assert told(news(before, after)) == ["+late", "~b", "+c"]


def test_nothing_is_told_when_nothing_changed() -> None:
    same = kept(("a", 1))
    assert len(news(same, kept(("a", 1)))) == 0


def test_rows_that_make_room_for_others_are_not_deleted() -> None:
    before = kept(("a", 1), ("b", 1), ("c", 1), older=True)
    after = kept(("c", 1), ("d", 1), ("e", 1), older=True)
    assert told(news(before, after)) == ["+d", "+e"]


def test_rows_too_old_to_be_kept_are_not_deleted() -> None:
    assert told(news(kept(("a", 1), ("b", 1)), kept(("b", 1)))) == []


def test_a_row_that_is_missing_between_others_was_deleted() -> None:
    before = kept(("a", 1), ("b", 1), ("c", 1))
    assert told(news(before, kept(("a", 1), ("c", 1)))) == ["-b"]


def test_an_older_row_that_comes_in_for_a_deleted_one_is_not_new() -> None:
    before = kept(("b", 1), ("c", 1), ("d", 1), older=True)
    after = kept(("a", 1), ("b", 1), ("d", 1))
    assert told(news(before, after)) == ["-c"]


def test_a_late_row_before_all_others_is_new_when_the_look_has_the_whole_table() -> None:
    assert told(news(kept(("b", 1)), kept(("a", 1), ("b", 1)))) == ["+a"]


def test_more_than_a_look_holds_is_said() -> None:
    before = kept(("a", 1), ("b", 1))
    after = kept(("y", 1), ("z", 1), older=True)
    missed = news(before, after)
    assert missed.missed
    assert told(missed) == ["+y", "+z"]
    assert not news(before, kept(("b", 1), ("c", 1), older=True)).missed
    assert not news(kept(), kept(("a", 1))).missed


def test_so_many_and_no_more() -> None:
    all_of_it = news(kept(("a", 1), ("b", 1), ("c", 1)), kept(("a", 2), ("c", 2)))
    assert [told(all_of_it.first(count)) for count in (1, 2, 9)] == [
        ["-b"],
        ["-b", "~a"],
        ["-b", "~a", "~c"],
    ]


def test_a_table_in_anothers_place_goes_on_with_what_is_newer() -> None:
    before = look(("a", 1), ("b", 1), ts=10)
    after = look(("a:0", 1), ("b:0", 1), ("c:0", 1), ts=10)
    assert told(newer(before, after, "ts")) == ["+c:0"]
    assert told(newer(look(), after, "ts")) == ["+a:0", "+b:0", "+c:0"]
    assert told(newer(before, after, None)) == ["+a:0", "+b:0", "+c:0"]
