"""Windows are by name: tables come, go and are replaced under the eyes of their viewers."""

from __future__ import annotations

import gc
import weakref

import pytest

from evergrid.protocol.error_codes import Code
from evergrid.protocol.frames import FrameKind
from evergrid.protocol.messages import Live, WindowState
from evergrid.views.view_query import OrderBy, Query, Window
from tests.gateway.watching import (
    ALL,
    OTHER,
    TABLE,
    TOP,
    Watching,
    row,
    rows,
    three_rows,
)
from tests.store import making
from tests.support.naive_table import Value


def fresh(offset: int) -> dict[str, Value]:
    """A row of the other table."""
    made = row(offset) | {"fresh": "new"}
    return {column.name: made[column.name] for column in OTHER.columns}


def test_a_window_of_a_table_that_is_not_there_comes_alive_with_it() -> None:
    watching = Watching()
    viewer = watching.open(ALL, TOP)
    watching.settle()
    assert viewer.told is not None
    assert viewer.told.state is Live.WAITING
    assert "There is no table made now" in viewer.told.message
    watching.place(TABLE, rows(1))
    watching.settle()
    watching.assert_current(viewer)


def test_names_that_mean_nothing_are_forgotten() -> None:
    watching = Watching()
    for number in range(5):
        watching.close(watching.open(Query(f"invented_{number}"), TOP))
    assert len(watching.hub.missing_tables()) == 5
    watching.pass_time(watching.limits.linger_seconds)
    watching.publish()
    assert watching.hub.missing_tables() == []


def test_a_table_that_goes_and_comes_back_is_shown_again_to_old_and_new() -> None:
    watching = three_rows()
    before = watching.open(ALL, TOP)
    watching.settle()
    shown = watching.tables["made"]
    watching.withdraw()
    meanwhile = watching.open(ALL, TOP)
    watching.settle()
    assert meanwhile.picture is None
    assert before.ids() == ["0:1", "0:2", "0:3"]
    watching.tables["made"] = shown  # the very same, unchanged
    watching.hub.show_table("made", shown.store, shown.generation)
    watching.hub.set_state("made", WindowState(Live.LIVE, ""))
    watching.settle()
    watching.assert_current(before)
    watching.assert_current(meanwhile)


def test_the_next_generation_comes_as_one_full_window_and_nothing_empty_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    making.make_small(monkeypatch)
    watching = Watching()
    watching.place(TABLE, rows(*range(20)))
    viewer = watching.open(ALL, TOP)
    watching.settle()
    watching.place(TABLE, rows(*range(100, 130)))
    steps = 0
    while watching.hub.build_views():
        steps += 1
        watching.pass_time(1.0)
        watching.publish()
        viewer.take()
        assert viewer.picture is not None
        assert viewer.picture.rows.num_rows == 10
        watching.upsert(rows(100 + steps))
    assert steps > 3
    watching.settle()
    assert [f.header.kind for f in viewer.frames[:2]] == [FrameKind.FULL, FrameKind.FULL]
    assert [f.header.generation for f in viewer.frames[:2]] == [1, 2]
    watching.assert_current(viewer)


def test_the_old_generation_goes_on_until_the_new_one_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watching = three_rows()
    making.make_small(monkeypatch)
    viewer = watching.open(ALL, TOP)
    watching.settle()
    old = watching.tables["made"]
    watching.place(TABLE, rows(*range(10, 30)))
    watching.hub.tick += 1
    applied = old.store.upsert(making.batch(TABLE, rows(4)), watching.hub.tick)
    watching.hub.update(old.store, applied)
    watching.pass_time(1.0)
    watching.publish()
    viewer.take()
    assert viewer.ids() == ["0:1", "0:2", "0:3", "0:4"]
    watching.settle()
    watching.assert_current(viewer)


def test_the_columns_of_a_new_schema_are_announced_in_its_window() -> None:
    watching = three_rows()
    everything = watching.open(ALL, TOP)
    some = watching.open(Query("made", ("note", "text")), TOP)
    watching.settle()
    watching.place(OTHER, [fresh(1)])
    watching.settle()
    for viewer, names in ((everything, [c.name for c in OTHER.columns]), (some, ["text"])):
        assert viewer.picture is not None
        assert [column.name for column in viewer.picture.columns] == names
        watching.assert_current(viewer)


def test_who_comes_back_is_not_refused_for_what_the_table_has_become() -> None:
    watching = Watching()
    watching.place(OTHER, [fresh(1)])
    ordered = watching.open(Query("made", order=(OrderBy("note"),)), TOP, again=True)
    some = watching.open(Query("made", ("note", "text")), TOP, again=True)
    watching.settle()
    assert ordered.told is not None
    assert (ordered.told.state, ordered.told.code) == (Live.WAITING, Code.UNKNOWN_COLUMN.value)
    assert some.picture is not None
    assert [column.name for column in some.picture.columns] == ["text"]
    watching.place(TABLE, rows(7, 8))
    watching.settle()
    for viewer in (ordered, some):
        watching.assert_current(viewer)


def test_who_moves_to_the_window_of_another_sees_no_old_rows_there() -> None:
    watching = Watching()
    watching.place(TABLE, rows(*range(1, 7)))
    one, other = watching.open(ALL, Window(0, 2)), watching.open(ALL, Window(4, 2))
    watching.settle()
    watching.place(TABLE, rows(*range(11, 17)))
    while watching.hub.build_views():
        pass  # and nothing is published yet
    watching.move(one, Window(2, 2))
    watching.move(one, Window(4, 2))
    for viewer in (one, other):
        viewer.take()
        assert viewer.ids() == ["0:15", "0:16"]
    watching.settle()
    assert [f.header.generation for f in other.frames] == [1, 2]


def test_who_has_seen_the_new_rows_sees_no_old_ones_in_a_view_that_is_still_to_follow() -> None:
    watching = Watching()
    watching.place(TABLE, rows(*range(1, 7)))
    backwards = Query("made", order=(OrderBy("offset", descending=True),))
    one, other = watching.open(ALL, TOP), watching.open(backwards, Window(0, 2))
    watching.settle()
    old = watching.tables["made"]
    watching.place(TABLE, rows(*range(11, 17)))
    watching.hub.build_views()
    watching.pass_time(1.0)
    watching.publish()
    one.take()
    assert one.ids()[0] == "0:11"
    for window in (Window(0, 2), Window(2, 2)):
        late = watching.open(backwards, window)
        assert late.told is not None
        assert late.told.state is Live.LOADING
        watching.hub.tick += 1  # the store before may still lose rows that are too old
        watching.hub.update(old.store, old.store.delete([f"0:{6 - window.offset}"]))
        watching.pass_time(1.0)
        watching.publish()
        late.take()
        assert late.picture is None
        watching.move(other, Window(1, 2))  # who looks at the old rows may look around
        other.take()
        assert other.picture is not None
    watching.settle()
    for viewer in watching.viewers.values():
        watching.assert_current(viewer)
        assert viewer.told is not None
        assert viewer.told.state is Live.LIVE
    watching.place(TABLE, rows(*range(21, 27)))
    watching.hub.build_views()
    watching.move(late, Window(3, 2))  # in the next switch it is one who looks at old rows
    late.take()
    assert late.ids() == ["0:13", "0:12"]


def test_windows_that_nobody_looks_at_do_not_keep_the_store_before() -> None:
    watching = three_rows()
    viewer = watching.open(ALL, TOP)
    watching.settle()
    watching.move(viewer, Window(1, 2))
    before = weakref.ref(watching.tables["made"].store)
    watching.place(TABLE, rows(7, 8, 9))
    watching.settle()
    gc.collect()
    assert before() is None
    watching.assert_current(viewer)


def test_a_query_that_the_new_schema_cannot_answer_waits_and_says_why() -> None:
    watching = three_rows()
    query = Query("made", order=(OrderBy("note"),))
    viewer = watching.open(query, TOP)
    watching.settle()
    watching.place(OTHER, [fresh(1)])
    watching.settle()
    assert viewer.told is not None
    assert viewer.told.state is Live.WAITING
    assert viewer.told.code == Code.UNKNOWN_COLUMN.value
    assert "there is no column 'note'" in viewer.told.message
    assert viewer.ids() == ["0:1", "0:2", "0:3"]
    late = watching.open(query, TOP)
    assert late.rejected is not None
    assert late.rejected.code is Code.UNKNOWN_COLUMN
    for condition in (WindowState(Live.STALE, "The broker is away."), WindowState(Live.LIVE, "")):
        watching.hub.set_state("made", condition)
        watching.collect()
        assert viewer.told.state is Live.WAITING, "what is so is the table, not this view"
        assert "there is no column 'note'" in viewer.told.message
    watching.place(TABLE, rows(7, 8))
    watching.settle()
    watching.assert_current(viewer)


def test_a_query_that_the_table_it_waited_for_cannot_answer_is_told_so() -> None:
    watching = Watching()
    viewer = watching.open(Query("made", order=(OrderBy("nothing"),)), TOP)
    watching.place(TABLE, rows(1))
    watching.settle()
    assert viewer.told is not None
    assert viewer.told.state is Live.WAITING
    assert "there is no column 'nothing'" in viewer.told.message


def test_a_table_that_two_generations_share_goes_on_under_the_new_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watching = three_rows()
    viewer = watching.open(ALL, TOP)
    watching.settle()
    reports = len(viewer.reports)
    made: list[object] = []
    monkeypatch.setattr("evergrid.gateway.engine.shared_view.View", lambda *of: made.append(of))
    watching.share()
    assert not watching.hub.build_views(), "its view is there already"
    watching.settle()
    watching.assert_current(viewer)
    kinds = [(f.header.generation, f.header.kind, f.header.rows) for f in viewer.frames]
    assert kinds == [(1, FrameKind.FULL, 3), (2, FrameKind.FULL, 3)]
    assert len(viewer.reports) == reports, "it was live all the time"
    assert made == []
    watching.upsert(rows(4))
    watching.settle()
    assert viewer.frames[-1].header.kind is FrameKind.DIFFERENCE
    assert viewer.frames[-1].header.generation == 2
    watching.assert_current(viewer)


def test_who_has_seen_the_new_number_sees_the_old_one_in_no_window() -> None:
    watching = three_rows()
    one, other = watching.open(ALL, Window(0, 2)), watching.open(ALL, Window(1, 2))
    watching.settle()
    watching.share()
    watching.move(one, Window(1, 2))
    late = watching.open(ALL, Window(0, 2))
    back = watching.open(ALL, Window(1, 2), other.frames[-1].header.sequence, again=True)
    for viewer in (one, other, late, back):
        viewer.take()
        assert viewer.frames[-1].header.generation == 2
    watching.settle()
    for viewer in (one, other, late, back):
        watching.assert_current(viewer)
    assert [f.header.generation for f in other.frames] == [1, 2], "it was sent once"


def test_a_view_that_is_being_made_takes_the_number_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watching = three_rows()
    making.make_small(monkeypatch)
    viewer = watching.open(ALL, TOP)
    watching.settle()
    watching.place(TABLE, rows(*range(10, 30)))
    watching.hub.build_views()
    watching.share()
    watching.settle()
    watching.assert_current(viewer)
    assert [f.header.generation for f in viewer.frames] == [1, 3]


def test_going_back_before_the_table_between_was_sent_changes_the_number() -> None:
    watching = three_rows()
    viewer, first = watching.open(ALL, TOP), watching.tables["made"]
    watching.settle()
    watching.place(TABLE, rows(10, 11))
    while watching.hub.build_views():
        pass
    watching.share(first)
    watching.settle()
    watching.assert_current(viewer)
    assert [f.header.generation for f in viewer.frames] == [1, 3]


def test_going_back_to_a_table_that_is_still_shown_makes_no_view_anew() -> None:
    watching = three_rows()
    backwards = Query("made", order=(OrderBy("offset", descending=True),))
    viewer, other = watching.open(ALL, TOP), watching.open(backwards, TOP)
    watching.settle()
    first = watching.tables["made"]
    watching.place(TABLE, rows(11))
    watching.hub.build_views()
    watching.pass_time(1.0)
    watching.publish()
    viewer.take()
    assert viewer.ids() == ["0:11"]
    late = watching.open(backwards, TOP)
    assert late.told is not None
    assert late.told.state is Live.LOADING, "the other view is still to follow"
    watching.tables["made"] = first
    first.remember()
    watching.hub.show_table("made", first.store, first.generation)
    watching.collect()
    watching.settle()
    for one in (viewer, other, late):
        watching.assert_current(one)
    assert {f.header.generation for f in other.frames} == {1}
    watching.place(TABLE, rows(*range(21, 27)))
    watching.hub.build_views()
    watching.move(late, Window(1, 2))  # as one who looks at old rows, it may look around
    late.take()
    assert late.ids() == ["0:2", "0:1"]


def test_a_shared_table_has_one_store() -> None:
    watching = three_rows()
    viewer = watching.open(ALL, TOP)
    watching.settle()
    store = watching.tables["made"].store
    before = watching.hub.view_bytes()
    watching.share()
    assert watching.hub.view_bytes() == before, "no second view, not even for a while"
    watching.settle()
    assert watching.tables["made"].store is store
    watching.assert_current(viewer)
