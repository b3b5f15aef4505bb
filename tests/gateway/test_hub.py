"""One view however many look at it; each viewer ends with the model's window, never going back."""

from __future__ import annotations

import random

import pytest

from evergrid.gateway.hub import Condition, Pace
from evergrid.model.table import Column, Table
from evergrid.model.types import TEXT
from evergrid.protocol.codes import Code
from evergrid.protocol.frames import Kind
from evergrid.protocol.messages import Live
from evergrid.testing.naive import Value
from evergrid.views.query import Filter, Op, OrderBy, Query, Window
from tests.gateway.watching import Viewer, Watching, random_rows
from tests.store import making

SEED = 20_261_116
SEQUENCES = 400
SOAK = 20_000
TABLE = making.made_table(version=False)
# The next pipeline has no column `note`, and one that was not there before.
OTHER = Table(
    name=TABLE.name,
    columns=(*(c for c in TABLE.columns if c.name != "note"), Column("fresh", TEXT)),
    row_id=TABLE.row_id,
    order=TABLE.order,
)
ALL = Query("made")
TOP = Window(0, 10)


def row(offset: int, **cells: Value) -> dict[str, Value]:
    blank: dict[str, Value] = {column.name: None for column in TABLE.columns}
    return blank | {"partition": 0, "offset": offset, "ts": offset} | cells


def rows(*offsets: int) -> list[dict[str, Value]]:
    return [row(offset) for offset in offsets]


def fresh(offset: int) -> dict[str, Value]:
    """A row of the other table."""
    made = row(offset) | {"fresh": "new"}
    return {column.name: made[column.name] for column in OTHER.columns}


def ids(viewer: Viewer) -> list[Value]:
    return [one["_id"] for one in viewer.rows()]


@pytest.fixture
def watching() -> Watching:
    """A table of three rows."""
    made = Watching()
    made.place(TABLE, rows(1, 2, 3))
    return made


class Anything:
    """Anything in any order, by many viewers of few different views."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.watching = Watching()
        self.queries = [self._query() for _ in range(5)]
        self.windows = [making.random_window(self.rng) for _ in range(4)]
        self.past: list[Viewer] = []

    def run(self) -> None:
        actions = [self._open, self._open, self._come_back, self._move, self._close, self._place]
        actions += [self._change] * 3 + [self._publish] * 3 + [self._withdraw]
        for _ in range(self.rng.randrange(5, 30)):
            self.rng.choice(actions)()
            if self.rng.random() < 0.5:
                self.watching.hub.grow()
            if self.rng.random() < 0.2:
                self._settle()
        self._settle()

    def _query(self) -> Query:
        query = making.random_query(self.rng, TABLE)
        columns = self.rng.choice([(), ("text",), ("count", "topic"), ("note", "ts")])
        return Query("made", columns, query.filter, query.search, query.order)

    def _open(self) -> None:
        self._remember(
            self.watching.open(self.rng.choice(self.queries), self.rng.choice(self.windows))
        )

    def _come_back(self) -> None:
        """With the picture of an earlier connection, new or old."""
        had = [v for v in self.past if v.picture is not None and not v.moved]
        if had:
            before = self.rng.choice(had)
            picture = before.picture
            assert picture is not None
            viewer = self.watching.open(before.query, before.window, picture.sequence)
            viewer.picture, viewer.oldest = picture, before.oldest
            self._remember(viewer)

    def _remember(self, viewer: Viewer) -> None:
        self.past.append(viewer)
        if viewer.refused is None:
            return
        table = self.watching.tables.get("made")
        if viewer.refused.code is Code.UNKNOWN_COLUMN:
            assert table is not None
            assert not _answers(table.store.table, viewer.query, strictly=True)
        else:
            assert viewer.refused.code is Code.TOO_MANY_VIEWS

    def _some(self) -> list[Viewer]:
        viewers = list(self.watching.viewers.values())
        return self.rng.sample(viewers, min(1, len(viewers)))

    def _move(self) -> None:
        for viewer in self._some():
            self.watching.move(viewer, self.rng.choice(self.windows))

    def _close(self) -> None:
        for viewer in self._some():
            self.watching.close(viewer)

    def _place(self) -> None:
        table = self.rng.choice([TABLE, TABLE, OTHER])
        self.watching.place(table, self._rows(table, 40))

    def _withdraw(self) -> None:
        if "made" in self.watching.tables and self.rng.random() < 0.5:
            self.watching.withdraw()

    def _rows(self, table: Table, most: int) -> list[dict[str, Value]]:
        names = [column.name for column in table.columns]
        made = [one | {"fresh": "x"} for one in random_rows(self.rng, TABLE, most)]
        return [{name: one[name] for name in names} for one in made]

    def _change(self) -> None:
        shown = self.watching.tables.get("made")
        if shown is None:
            return
        if self.rng.random() < 0.8:
            self.watching.upsert(self._rows(shown.store.table, 12))
        else:
            self.watching.delete([making.random_id(self.rng, TABLE) for _ in range(8)])

    def _publish(self) -> None:
        self.watching.pass_time(self.rng.choice([0.0, 0.01, 0.1, 0.6]))
        self.watching.publish()
        for viewer in self.watching.viewers.values():
            if self.rng.random() < 0.6:  # the others read slowly
                viewer.take()
                self._assert_some_state(viewer)

    def _assert_some_state(self, viewer: Viewer) -> None:
        """What is shown is the model's window as it is or was, and not older than before."""
        if viewer.picture is None or viewer.moved:
            return
        states = self.watching.states["made"]
        for at in range(viewer.oldest, len(states)):
            if (
                states[at].generation == viewer.picture.header.generation
                and _answers(states[at].table, viewer.query)
                and self.watching.expected(viewer, states[at]) == viewer.rows()
            ):
                viewer.oldest = at
                return
        raise AssertionError(f"{viewer} shows what never was, or what was before")

    def _settle(self) -> None:
        self.watching.settle()
        shown = self.watching.tables.get("made")
        for viewer in self.watching.viewers.values():
            if shown is not None and _answers(shown.store.table, viewer.query):
                self.watching.assert_current(viewer)
                viewer.oldest = len(self.watching.states["made"]) - 1
            else:
                assert viewer.told is not None
                assert viewer.told.state is Live.WAITING
                assert ("cannot be had" in viewer.told.message) == (shown is not None)
        self._assert_counts()
        self.watching.pass_time(1.0)
        assert self.watching.publish() == 0, "something came although nothing had changed"

    def _assert_counts(self) -> None:
        """As many views and windows as are looked at, once nobody lingers."""
        self.watching.pass_time(self.watching.pace.linger_seconds)
        self.watching.publish()
        viewers = self.watching.viewers.values()
        views = {_view(v.query) for v in viewers}
        windows = {(_view(v.query), v.query.columns, v.window) for v in viewers}
        counts = self.watching.hub.counts()
        assert counts["views"] == len(views) == self.watching.hub.views_of("made")
        assert counts["windows"] == len(windows)
        assert counts["tickets"] == len(viewers)


def _view(query: Query) -> object:
    return query.filter, " ".join(query.search.split()), query.order


def _answers(table: Table, query: Query, *, strictly: bool = False) -> bool:
    """Whether the table has what the view is made by, and `strictly` what it shows."""
    used = {by.column for by in query.order}
    used.update(query.columns if strictly else ())
    if query.filter is not None:
        used |= {str(condition.column) for condition in query.filter.conditions()}
    return used <= {column.name for column in table.columns}


def _run(seeds: range) -> None:
    for seed in seeds:
        try:
            Anything(seed).run()
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


def test_viewers_see_what_the_model_shows_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    making.make_small(monkeypatch)
    print(f"seeds from {SEED}")
    _run(range(SEED, SEED + SEQUENCES))


@pytest.mark.soak
def test_viewers_see_what_the_model_shows_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    making.make_small(monkeypatch)
    start = random.SystemRandom().randrange(2**40)
    print(f"seeds from {start}")
    _run(range(start, start + SOAK))


def test_many_share_one_view_one_window_and_one_frame(watching: Watching) -> None:
    viewers = [watching.open(ALL, TOP) for _ in range(500)]
    watching.settle()
    assert watching.hub.counts() | {"sequence": 0} == {
        "views": 1,
        "windows": 1,
        "tickets": 500,
        "sequence": 0,
    }
    watching.upsert(rows(4))
    watching.pass_time(1.0)
    assert watching.publish() == 1
    for viewer in viewers:
        viewer.take()
        watching.assert_current(viewer)
    assert len({bytes(viewer.frames[-1].body) for viewer in viewers}) == 1


def test_columns_and_spaces_in_a_search_make_no_other_view(watching: Watching) -> None:
    watching.open(Query("made", ("text",), search="a b"), TOP)
    watching.open(Query("made", ("count",), search=" a   b "), TOP)
    assert watching.hub.counts()["views"] == 1
    assert watching.hub.counts()["windows"] == 2


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
    assert kinds == [Kind.FULL, Kind.DIFFERENCE, Kind.FULL]
    difference = viewer.frames[1]
    assert difference.header.base == viewer.frames[0].header.sequence
    assert difference.description.parts == ((0, 5), (-1, 1), (6, 4))
    watching.assert_current(viewer)


def test_a_slow_reader_gets_the_newest_state_alone(watching: Watching) -> None:
    viewer = watching.open(ALL, TOP)
    watching.settle()
    for offset in (4, 5, 6):
        watching.upsert(rows(offset))
        watching.pass_time(1.0)
        watching.publish()
    viewer.take()
    assert [frame.header.kind for frame in viewer.frames] == [Kind.FULL, Kind.FULL]
    watching.assert_current(viewer)


def test_changes_outside_the_window_send_nothing_but_the_total_and_not_at_once() -> None:
    watching = Watching()
    watching.place(TABLE, rows(1, 2, 3))
    viewer = watching.open(ALL, Window(0, 2))
    while watching.hub.grow():
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


def test_frames_keep_their_distance(watching: Watching) -> None:
    watching.open(ALL, TOP)
    watching.settle()
    watching.upsert(rows(4))
    assert watching.publish() == 1
    watching.upsert(rows(5))
    assert watching.publish() == 0
    assert watching.hub.due() == watching.now + watching.pace.frame_seconds
    watching.pass_time(watching.pace.frame_seconds)
    assert watching.publish() == 1


def test_a_view_lingers_after_its_last_viewer_and_then_goes(watching: Watching) -> None:
    watching.close(watching.open(ALL, TOP))
    watching.pass_time(watching.pace.linger_seconds / 2)
    watching.publish()
    assert watching.hub.counts()["views"] == 1
    again = watching.open(ALL, TOP)
    watching.pass_time(watching.pace.linger_seconds * 2)
    watching.publish()
    assert watching.hub.counts()["views"] == 1
    watching.close(again)
    watching.pass_time(watching.pace.linger_seconds)
    watching.publish()
    assert watching.hub.counts()["views"] == watching.hub.counts()["windows"] == 0
    assert watching.hub.view_bytes() == 0


def test_who_returns_to_a_window_that_lingered_gets_it_as_it_is_now(watching: Watching) -> None:
    first = watching.open(ALL, Window(0, 2))
    watching.settle()
    watching.close(first)
    watching.upsert(rows(4))
    watching.pass_time(0.1)
    watching.publish()
    again = watching.open(ALL, Window(0, 2))
    watching.settle()
    watching.assert_current(again)


def test_only_the_total_changed_while_a_window_lingered(watching: Watching) -> None:
    other = watching.open(ALL, TOP)
    first = watching.open(ALL, Window(0, 2))
    watching.settle()
    watching.close(first)
    watching.open(ALL, Window(0, 2))
    watching.upsert(rows(4))
    watching.settle()
    watching.assert_current(other)
    watching.close(next(v for v in watching.viewers.values() if v.window.limit == 2))
    watching.upsert(rows(5))
    watching.pass_time(0.06)
    watching.publish()
    again = watching.open(ALL, Window(0, 2))
    watching.settle()
    watching.assert_current(again)


def test_there_are_only_so_many_views() -> None:
    watching = Watching(Pace(frame_seconds=0.0, linger_seconds=1.0, max_views=2))
    watching.place(TABLE, rows(1))
    first = watching.open(ALL, TOP)
    watching.open(Query("made", search="x"), TOP)
    watching.open(Query("made", search="y"), TOP)
    assert watching.refusals() == [Code.TOO_MANY_VIEWS]
    watching.open(ALL, Window(5, 5))
    assert len(watching.refusals()) == 1
    watching.close(first)
    watching.close(next(v for v in watching.viewers.values() if v.window.offset == 5))
    watching.pass_time(1.0)
    watching.publish()
    assert watching.open(Query("made", search="y"), TOP).refused is None


BAD = [
    (Query("made", ("nothing",)), Code.UNKNOWN_COLUMN),
    (Query("made", order=(OrderBy("nothing"),)), Code.UNKNOWN_COLUMN),
    (Query("made", order=(OrderBy("text"), OrderBy("text"))), Code.BAD_ORDER),
    (Query("made", filter=Filter("text", Op.EQUALS, 1)), Code.BAD_VALUE),
    (Query("made", filter=Filter("text", Op.IN, "x")), Code.BAD_FILTER),
    (Query("made", search="x" * 1000), Code.BAD_SEARCH),
]


@pytest.mark.parametrize(("query", "code"), BAD, ids=range(len(BAD)))
def test_a_query_that_cannot_be_answered_is_refused(
    watching: Watching, query: Query, code: Code
) -> None:
    viewer = watching.open(query, TOP)
    assert viewer.refused is not None
    assert viewer.refused.code is code
    assert watching.hub.counts()["views"] == watching.hub.counts()["tickets"] == 0


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
    assert len(watching.hub.awaited()) == 5
    watching.pass_time(watching.pace.linger_seconds)
    watching.publish()
    assert watching.hub.awaited() == []


def test_a_table_that_goes_and_comes_back_is_shown_again_to_old_and_new(
    watching: Watching,
) -> None:
    before = watching.open(ALL, TOP)
    watching.settle()
    shown = watching.tables["made"]
    watching.withdraw()
    meanwhile = watching.open(ALL, TOP)
    watching.settle()
    assert meanwhile.picture is None
    assert ids(before) == ["0:1", "0:2", "0:3"]
    watching.tables["made"] = shown  # the very same, unchanged
    watching.hub.place("made", shown.store, shown.generation)
    watching.hub.condition("made", Condition(Live.LIVE, ""))
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
    while watching.hub.grow():
        steps += 1
        watching.pass_time(1.0)
        watching.publish()
        viewer.take()
        assert viewer.picture is not None
        assert viewer.picture.rows.num_rows == 10
        watching.upsert(rows(100 + steps))
    assert steps > 3
    watching.settle()
    assert [f.header.kind for f in viewer.frames[:2]] == [Kind.FULL, Kind.FULL]
    assert [f.header.generation for f in viewer.frames[:2]] == [1, 2]
    watching.assert_current(viewer)


def test_the_old_generation_goes_on_until_the_new_one_is_made(
    watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    making.make_small(monkeypatch)
    viewer = watching.open(ALL, TOP)
    watching.settle()
    old = watching.tables["made"]
    watching.place(TABLE, rows(*range(10, 30)))
    watching.hub.tick += 1
    applied = old.store.upsert(making.batch(TABLE, rows(4)), watching.hub.tick)
    watching.hub.changed(old.store, applied)
    watching.pass_time(1.0)
    watching.publish()
    viewer.take()
    assert ids(viewer) == ["0:1", "0:2", "0:3", "0:4"]
    watching.settle()
    watching.assert_current(viewer)


def test_the_columns_of_a_new_schema_are_announced_in_its_window(watching: Watching) -> None:
    everything = watching.open(ALL, TOP)
    some = watching.open(Query("made", ("note", "text")), TOP)
    watching.settle()
    watching.place(OTHER, [fresh(1)])
    watching.settle()
    for viewer, names in ((everything, [c.name for c in OTHER.columns]), (some, ["text"])):
        assert viewer.picture is not None
        assert [column.name for column in viewer.picture.columns] == names
        watching.assert_current(viewer)


def test_a_query_that_the_new_schema_cannot_answer_waits_and_says_why(watching: Watching) -> None:
    query = Query("made", order=(OrderBy("note"),))
    viewer = watching.open(query, TOP)
    watching.settle()
    watching.place(OTHER, [fresh(1)])
    watching.settle()
    assert viewer.told is not None
    assert viewer.told.state is Live.WAITING
    assert "there is no column 'note'" in viewer.told.message
    assert ids(viewer) == ["0:1", "0:2", "0:3"]
    late = watching.open(query, TOP)
    assert late.refused is not None
    assert late.refused.code is Code.UNKNOWN_COLUMN
    for condition in (Condition(Live.STALE, "The broker is away."), Condition(Live.LIVE, "")):
        watching.hub.condition("made", condition)
        watching.collect()
        assert viewer.told.state is Live.WAITING, "the word about the table is not about this view"
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


def test_who_comes_back_with_the_newest_state_gets_nothing(watching: Watching) -> None:
    first = watching.open(ALL, TOP)
    watching.settle()
    assert first.picture is not None
    again = watching.open(ALL, TOP, first.picture.sequence)
    again.picture = first.picture
    watching.settle()
    assert again.frames == []
    watching.assert_current(again)


def test_who_comes_back_with_the_state_before_gets_the_difference(watching: Watching) -> None:
    first = watching.open(ALL, TOP)
    watching.settle()
    had = first.picture
    assert had is not None
    watching.upsert(rows(4))
    watching.settle()
    again = watching.open(ALL, TOP, had.sequence)
    again.picture = had
    again.take()
    assert [frame.header.kind for frame in again.frames] == [Kind.DIFFERENCE]
    watching.assert_current(again)


@pytest.mark.parametrize("sequence", [0, 99_999])
def test_who_comes_back_with_any_other_state_gets_the_window(
    watching: Watching, sequence: int
) -> None:
    watching.open(ALL, TOP)
    watching.settle()
    again = watching.open(ALL, TOP, sequence)
    again.take()
    assert [frame.header.kind for frame in again.frames] == [Kind.FULL]
    watching.assert_current(again)


def test_who_comes_back_to_a_window_that_nobody_kept_gets_it_anew(watching: Watching) -> None:
    first = watching.open(ALL, TOP)
    watching.settle()
    assert first.picture is not None
    watching.close(first)
    watching.pass_time(watching.pace.linger_seconds)
    watching.publish()
    again = watching.open(ALL, TOP, first.picture.sequence)
    watching.settle()
    assert [frame.header.kind for frame in again.frames] == [Kind.FULL]


def test_conditions_are_told_once_to_those_who_look(watching: Watching) -> None:
    viewer = watching.open(ALL, TOP)
    away = Condition(Live.STALE, "The broker is away.", since=7)
    for _ in range(2):
        watching.hub.condition("made", away)
        watching.hub.condition("other", away)
    assert watching.collect() == 1
    assert viewer.told is not None
    assert (viewer.told.state, viewer.told.since) == (Live.STALE, 7)
