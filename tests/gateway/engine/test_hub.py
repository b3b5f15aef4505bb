"""One view however many look at it, and nobody is sent what he has."""

from __future__ import annotations

import pytest

from evergrid.gateway.engine.hub_types import HubLimits
from evergrid.protocol.error_codes import Code
from evergrid.protocol.frames import FrameKind
from evergrid.protocol.messages import Live, WindowState
from evergrid.views.view_query import Filter, Op, OrderBy, Query, Window
from tests.gateway.watching import (
    ALL,
    TABLE,
    TOP,
    Watching,
    row,
    rows,
    three_rows,
)


def test_many_share_one_view_one_window_and_one_frame() -> None:
    watching = three_rows()
    viewers = [watching.open(ALL, TOP) for _ in range(500)]
    watching.settle()
    counts = watching.hub.counts()
    assert (counts.views, counts.windows, counts.subscribers) == (1, 1, 500)
    watching.upsert(rows(4))
    watching.pass_time(1.0)
    assert watching.publish() == 1
    for viewer in viewers:
        viewer.take()
        watching.assert_current(viewer)
    assert len({bytes(viewer.frames[-1].body) for viewer in viewers}) == 1


def test_columns_and_spaces_in_a_search_make_no_other_view() -> None:
    watching = three_rows()
    watching.open(Query("made", ("text",), search="a b"), TOP)
    watching.open(Query("made", ("count",), search=" a   b "), TOP)
    assert watching.hub.counts().views == 1
    assert watching.hub.counts().windows == 2


def test_a_small_change_comes_as_a_difference_and_a_large_one_as_a_window() -> None:
    watching = Watching()
    watching.place(TABLE, rows(*range(10)))
    viewer = watching.open(ALL, TOP)
    watching.settle()
    watching.upsert([row(5, text="other")])
    watching.settle()
    watching.upsert([row(offset, text="all") for offset in range(10)])
    watching.settle()
    kinds = [frame.header.kind for frame in viewer.frames]
    assert kinds == [FrameKind.FULL, FrameKind.DIFFERENCE, FrameKind.FULL]
    difference = viewer.frames[1]
    assert difference.header.base == viewer.frames[0].header.sequence
    assert difference.description.parts == ((0, 5), (-1, 1), (6, 4))
    watching.assert_current(viewer)


def test_a_slow_reader_gets_the_newest_state_alone() -> None:
    watching = three_rows()
    viewer = watching.open(ALL, TOP)
    watching.settle()
    for offset in (4, 5, 6):
        watching.upsert(rows(offset))
        watching.pass_time(1.0)
        watching.publish()
    viewer.take()
    assert [frame.header.kind for frame in viewer.frames] == [FrameKind.FULL, FrameKind.FULL]
    watching.assert_current(viewer)


def test_changes_outside_the_window_send_nothing_but_the_total_and_not_at_once() -> None:
    watching = Watching()
    watching.place(TABLE, rows(1, 2, 3))
    viewer = watching.open(ALL, Window(0, 2))
    while watching.hub.build_views():
        pass
    watching.publish()
    viewer.take()
    watching.upsert(rows(4))
    watching.pass_time(0.1)
    assert watching.publish() == 0
    assert watching.hub.due() is not None
    watching.pass_time(0.5)
    assert watching.publish() == 1
    viewer.take()
    assert viewer.frames[-1].description.parts == ((0, 2),)
    watching.assert_current(viewer)
    watching.upsert([row(4, text="elsewhere")])
    watching.pass_time(1.0)
    assert watching.publish() == 0
    assert watching.hub.due() is None


def test_frames_keep_their_distance() -> None:
    watching = three_rows()
    watching.open(ALL, TOP)
    watching.settle()
    watching.upsert(rows(4))
    assert watching.publish() == 1
    watching.upsert(rows(5))
    assert watching.publish() == 0
    assert watching.hub.due() == watching.now + watching.limits.frame_seconds
    watching.pass_time(watching.limits.frame_seconds)
    assert watching.publish() == 1


def test_a_view_lingers_after_its_last_viewer_and_then_goes() -> None:
    watching = three_rows()
    watching.close(watching.open(ALL, TOP))
    watching.pass_time(watching.limits.linger_seconds / 2)
    watching.publish()
    assert watching.hub.counts().views == 1
    again = watching.open(ALL, TOP)
    watching.pass_time(watching.limits.linger_seconds * 2)
    watching.publish()
    assert watching.hub.counts().views == 1
    watching.close(again)
    watching.pass_time(watching.limits.linger_seconds)
    watching.publish()
    assert watching.hub.counts().views == watching.hub.counts().windows == 0
    assert watching.hub.view_bytes() == 0


def test_who_returns_to_a_window_that_lingered_gets_it_as_it_is_now() -> None:
    watching = three_rows()
    first = watching.open(ALL, Window(0, 2))
    watching.settle()
    watching.close(first)
    watching.upsert(rows(4))
    watching.pass_time(0.1)
    watching.publish()
    again = watching.open(ALL, Window(0, 2))
    watching.settle()
    watching.assert_current(again)


def test_who_returns_at_once_learns_of_a_total_that_changed_meanwhile() -> None:
    watching = three_rows()
    watching.open(ALL, TOP)
    first = watching.open(ALL, Window(0, 2))
    while watching.hub.build_views():
        pass
    watching.publish()
    watching.close(first)
    watching.upsert(rows(4))
    watching.pass_time(watching.limits.frame_seconds)
    watching.publish()
    again = watching.open(ALL, Window(0, 2))
    watching.settle()
    watching.assert_current(again)


def test_there_are_only_so_many_views() -> None:
    watching = Watching(
        HubLimits(frame_seconds=0.0, linger_seconds=1.0, max_views=2, max_views_per_key=2)
    )
    watching.place(TABLE, rows(1))
    first = watching.open(ALL, TOP)
    watching.open(Query("made", search="x"), TOP)
    watching.open(Query("made", search="y"), TOP)
    assert watching.rejections() == [Code.TOO_MANY_VIEWS]
    watching.open(ALL, Window(5, 5))
    assert len(watching.rejections()) == 1
    watching.close(first)
    watching.close(next(v for v in watching.viewers.values() if v.window.offset == 5))
    watching.pass_time(1.0)
    watching.publish()
    assert watching.open(Query("made", search="y"), TOP).rejected is None


def searching(number: int) -> Query:
    return Query("made", search=f"text {number}")


def test_a_key_has_only_its_share_of_the_views() -> None:
    watching = Watching(
        HubLimits(frame_seconds=0.0, linger_seconds=1.0, max_views=9, max_views_per_key=2)
    )
    watching.place(TABLE, rows(1))
    first, second = (watching.open(searching(number), TOP, key="a") for number in range(2))
    refused = watching.open(searching(2), TOP, key="a").rejected
    assert refused is not None
    assert refused.message == (
        "too many views: this key has 2 different ones, which is its limit. "
        "Close some, then try again."
    )
    assert watching.open(searching(0), Window(3, 3), key="a").rejected is None, "a shared view"
    assert watching.open(searching(2), TOP, key="b").rejected is None, "another key"
    watching.close(second)
    assert watching.open(searching(3), TOP, key="a").rejected is not None, "it is kept a while"
    watching.pass_time(1.0)
    watching.publish()
    assert watching.open(searching(3), TOP, key="a").rejected is None
    assert first.rejected is None


def test_a_view_of_one_key_is_built_before_all_views_of_another_are() -> None:
    watching = Watching()
    watching.place(TABLE, rows(*range(20)))
    many = [watching.open(searching(number), TOP, key="a") for number in range(6)]
    one = watching.open(searching(9), TOP, key="b")
    turns = 0
    while not one.frames:
        assert watching.hub.build_views()
        watching.collect()
        watching.publish()
        one.take()
        turns += 1
    for viewer in many:
        viewer.take()
    assert sum(not viewer.frames for viewer in many) >= 4, f"after {turns} turns"


BAD = [
    (Query("made", ("nothing",)), Code.UNKNOWN_COLUMN),
    (Query("made", order=(OrderBy("nothing"),)), Code.UNKNOWN_COLUMN),
    (Query("made", order=(OrderBy("text"), OrderBy("text"))), Code.BAD_ORDER),
    (Query("made", filter=Filter("text", Op.EQUALS, 1)), Code.BAD_VALUE),
    (Query("made", filter=Filter("text", Op.IN, "x")), Code.BAD_FILTER),
    (Query("made", search="x" * 1000), Code.BAD_SEARCH),
]


@pytest.mark.parametrize(("query", "code"), BAD, ids=range(len(BAD)))
def test_a_query_that_cannot_be_answered_is_refused(query: Query, code: Code) -> None:
    watching = three_rows()
    viewer = watching.open(query, TOP)
    assert viewer.rejected is not None
    assert viewer.rejected.code is code
    assert watching.hub.counts().views == watching.hub.counts().subscribers == 0


def test_who_comes_back_with_the_newest_state_gets_nothing() -> None:
    watching = three_rows()
    first = watching.open(ALL, TOP)
    watching.settle()
    assert first.picture is not None
    again = watching.open(ALL, TOP, first.picture.sequence)
    again.picture = first.picture
    watching.settle()
    assert again.frames == []
    watching.assert_current(again)


def test_who_comes_back_with_the_state_before_gets_the_difference() -> None:
    watching = three_rows()
    first = watching.open(ALL, TOP)
    watching.settle()
    had = first.picture
    assert had is not None
    watching.upsert(rows(4))
    watching.settle()
    again = watching.open(ALL, TOP, had.sequence)
    again.picture = had
    again.take()
    assert [frame.header.kind for frame in again.frames] == [FrameKind.DIFFERENCE]
    watching.assert_current(again)


@pytest.mark.parametrize("sequence", [0, 99_999])
def test_who_comes_back_with_any_other_state_gets_the_window(sequence: int) -> None:
    watching = three_rows()
    watching.open(ALL, TOP)
    watching.settle()
    again = watching.open(ALL, TOP, sequence)
    again.take()
    assert [frame.header.kind for frame in again.frames] == [FrameKind.FULL]
    watching.assert_current(again)


def test_who_comes_back_to_a_window_that_nobody_kept_gets_it_anew() -> None:
    watching = three_rows()
    first = watching.open(ALL, TOP)
    watching.settle()
    assert first.picture is not None
    watching.close(first)
    watching.pass_time(watching.limits.linger_seconds)
    watching.publish()
    again = watching.open(ALL, TOP, first.picture.sequence)
    watching.settle()
    assert [frame.header.kind for frame in again.frames] == [FrameKind.FULL]


def test_conditions_are_told_once_to_those_who_look() -> None:
    watching = three_rows()
    viewer = watching.open(ALL, TOP)
    away = WindowState(Live.STALE, "The broker is away.", since=7)
    for _ in range(2):
        watching.hub.set_state("made", away)
        watching.hub.set_state("other", away)
    assert watching.collect() == 1
    assert viewer.told is not None
    assert (viewer.told.state, viewer.told.since) == (Live.STALE, 7)
