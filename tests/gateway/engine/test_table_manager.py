"""Under each name the hub shows the table that the manifest names, as soon as it is complete."""

from __future__ import annotations

import gc
import logging
import time
import weakref
from collections.abc import Mapping

import msgspec
import pytest

from evergrid.changelog.feed import FeedUpdate, Followed, Key, LoadProgress
from evergrid.changelog.manifest import HEARTBEAT_KEY, Gap, Gaps, Manifest, TablesBehind
from evergrid.changelog.unreadable_records import SkipReason, UnreadableRecord
from evergrid.gateway.engine.engine_delay import EngineDelay
from evergrid.gateway.engine.hub import Hub
from evergrid.gateway.engine.hub_types import HubLimits
from evergrid.gateway.engine.shared_view import PublicationTime
from evergrid.gateway.engine.table_engine import PipelineHealth, TableInfo
from evergrid.gateway.engine.table_manager import TableManager
from evergrid.gateway.engine.trace import LOG
from evergrid.model.field_types import TIMESTAMP
from evergrid.model.gap import GapReason
from evergrid.model.generation import Generation, State, TableTopic, Times
from evergrid.model.table import Column, Retention, Role, Table
from evergrid.protocol.messages import Live
from evergrid.views.view_query import Query, Window
from tests.gateway.watching import Viewer, Watching
from tests.store import making
from tests.support.naive_table import Value

TABLE = making.made_table(version=False)
MEGABYTE = 1 << 20
NOW = time.time_ns() // 1000
HOUR = 3_600_000_000


def row(offset: int, **cells: Value) -> dict[str, Value]:
    blank: dict[str, Value] = {column.name: None for column in TABLE.columns}
    return blank | {"partition": 0, "offset": offset, "ts": NOW + offset} | cells


def followed(generation: int, table: Table = TABLE) -> Followed:
    topic = f"g{generation}.{table.name}"
    key = Key(topic, f"id {topic}", table)
    return Followed(key, TableTopic(table, topic, 1), generation)


def shared(one: Followed, generation: int) -> Followed:
    """The same changelog, as a table of another generation."""
    return msgspec.structs.replace(one, generation=generation)


def manifest(current: int | None, *tables: Followed, switched: int = 0) -> Manifest:
    generations = {
        one.generation: Generation(
            number=one.generation,
            state=State.CURRENT if one.generation == current else State.READY,
            sources={},
            joins={},
            topics={},
            tables={one.target.table.name: one.target},
            times=Times(current=switched),
        )
        for one in tables
    }
    return Manifest(generations=generations, current=current)


class Keeping:
    """A table manager and one subscriber of the table."""

    def __init__(self, table_bytes: int = 64 * MEGABYTE) -> None:
        self.watching = Watching(
            HubLimits(frame_seconds=0.0, linger_seconds=1.0, max_views=5, max_views_per_key=5)
        )
        self.delay = EngineDelay()
        self.manager = TableManager(self.watching.hub, table_bytes, self.delay)
        self.tables: list[Followed] = []
        self.current: int | None = None
        self.switched = time.time_ns() // 1000
        self.reached: dict[Key, LoadProgress] = {}
        self.viewer: Viewer = self.watching.open(Query("made"), Window(0, 1000))

    @property
    def hub(self) -> Hub:
        return self.watching.hub

    def turn(
        self,
        down: str = "",
        heartbeat: int = 0,
        behind: TablesBehind = TablesBehind(),
        gaps: Mapping[str, tuple[Gap, ...]] | None = None,
    ) -> None:
        known = manifest(self.current, *self.tables, switched=self.switched)
        known = msgspec.structs.replace(
            known, heartbeat=heartbeat, behind=behind, gaps=Gaps(gaps or {})
        )
        self.manager.update(FeedUpdate((), tuple(self.tables), dict(self.reached), known, down))
        self.watching.settle()

    def apply(self, one: Followed, *rows: dict[str, Value], gone: tuple[str, ...] = ()) -> None:
        batch = making.batch(one.target.table, rows)
        self.manager.apply(one.key, [batch, list(gone)])
        self.watching.settle()

    def shown(self) -> list[Value]:
        return [one["_id"] for one in self.viewer.rows()]

    def state(self) -> Live:
        assert self.viewer.told is not None
        return self.viewer.told.state

    def info(self) -> TableInfo:
        (only,) = self.manager.tables()
        return only


@pytest.fixture
def keeping() -> Keeping:
    """With the first generation's table, complete and current."""
    made = Keeping()
    first = followed(1)
    made.tables, made.current = [first], 1
    made.turn()
    made.apply(first, row(1), row(2))
    made.reached[first.key] = LoadProgress(2, 2)
    made.turn()
    return made


def test_a_table_is_shown_when_all_of_it_is_there() -> None:
    keeping = Keeping()
    assert keeping.state() is Live.WAITING
    assert not keeping.manager.ready
    first = followed(1)
    keeping.tables, keeping.current = [first], 1
    keeping.turn()
    assert keeping.state() is Live.LOADING
    keeping.apply(first, row(1), row(2))
    keeping.reached[first.key] = LoadProgress(2, 3)
    keeping.turn()
    assert keeping.viewer.told is not None
    assert (keeping.viewer.told.done, keeping.viewer.told.total) == (2, 3)
    assert keeping.viewer.picture is None
    assert keeping.manager.store("made") is None
    keeping.apply(first, row(3), gone=("0:1",))
    keeping.reached[first.key] = LoadProgress(3, 3)
    keeping.turn()
    assert keeping.shown() == ["0:2", "0:3"]
    assert keeping.state() is Live.LIVE
    assert keeping.manager.ready


def test_changes_are_applied_in_their_order(keeping: Keeping) -> None:
    first = keeping.tables[0]
    batches = [making.batch(TABLE, [row(n)]) for n in (1, 3)]
    keeping.manager.apply(first.key, [["0:1"], batches[0], ["0:2", "0:3"], batches[1], ["0:9"]])
    keeping.watching.settle()
    assert keeping.shown() == ["0:1", "0:3"]
    assert keeping.info().changes == 2 + 6
    assert keeping.manager.rows_applied == 4


def test_the_next_generation_is_shown_when_it_is_current_and_complete(keeping: Keeping) -> None:
    second = followed(2)
    keeping.tables.append(second)
    keeping.turn()
    keeping.apply(second, row(7))
    keeping.reached[second.key] = LoadProgress(1, 2)
    keeping.turn()
    assert keeping.shown() == ["0:1", "0:2"]
    keeping.current = 2
    keeping.turn()
    assert keeping.shown() == ["0:1", "0:2"], "it is current, but not all of it is there"
    assert keeping.state() is Live.LIVE
    assert keeping.manager.ready, "there is nothing that it could not answer"
    keeping.apply(keeping.tables[0], row(3))
    assert keeping.shown() == ["0:1", "0:2", "0:3"], "the old one goes on meanwhile"
    keeping.apply(second, row(8))
    keeping.reached[second.key] = LoadProgress(2, 2)
    keeping.turn()
    assert keeping.shown() == ["0:7", "0:8"]
    assert keeping.info().generation == 2
    generations = [frame.header.generation for frame in keeping.viewer.frames]
    assert generations == sorted(generations)
    assert all(frame.header.rows for frame in keeping.viewer.frames), "no empty window in between"


def test_the_old_generation_is_kept_while_it_is_shown_though_it_is_read_no_more(
    keeping: Keeping,
) -> None:
    second = followed(2)
    keeping.tables, keeping.current = [second], 2
    keeping.turn()
    assert keeping.shown() == ["0:1", "0:2"]
    old = keeping.manager.store("made")
    keeping.apply(second, row(9))
    keeping.reached[second.key] = LoadProgress(1, 1)
    keeping.turn()
    assert keeping.shown() == ["0:9"]
    assert keeping.manager.store("made") is not old


def test_the_memory_of_the_old_generation_is_given_back(keeping: Keeping) -> None:
    store = keeping.manager.store("made")
    assert store is not None
    old = weakref.ref(store)
    del store
    keeping.watching.open(Query("made", search="1"), Window(0, 10))
    keeping.watching.settle()
    second = followed(2)
    keeping.tables, keeping.current = [*keeping.tables, second], 2
    keeping.turn()
    keeping.apply(second, row(9))
    keeping.reached[second.key] = LoadProgress(1, 1)
    keeping.turn()
    assert keeping.shown() == ["0:9"]
    keeping.tables = [second]  # the old one retires
    keeping.turn()
    gc.collect()
    assert old() is None


def test_a_table_without_a_name_is_withdrawn_and_its_window_waits(keeping: Keeping) -> None:
    first = keeping.tables[0]
    keeping.tables, keeping.current = [], None
    keeping.turn()
    assert keeping.state() is Live.WAITING
    assert keeping.manager.tables() == []
    keeping.apply(first, row(5))
    assert keeping.shown() == ["0:1", "0:2"]
    keeping.tables, keeping.current = [followed(3)], 3
    keeping.turn()
    keeping.apply(keeping.tables[0], row(6))
    keeping.reached[keeping.tables[0].key] = LoadProgress(1, 1)
    keeping.turn()
    assert keeping.shown() == ["0:6"]
    assert keeping.state() is Live.LIVE


def test_a_broker_that_is_away_makes_tables_stale_and_takes_none(keeping: Keeping) -> None:
    before = keeping.manager.fresh_at
    assert before > 0
    keeping.tables = []
    keeping.current = None
    keeping.turn(down="Kafka does not answer.")
    assert keeping.manager.pipeline().health is PipelineHealth.UNKNOWN
    assert keeping.state() is Live.STALE
    assert keeping.viewer.told is not None
    assert keeping.viewer.told.message == "Kafka does not answer. Going on when it is back."
    assert keeping.viewer.told.since == keeping.manager.fresh_at
    assert keeping.shown() == ["0:1", "0:2"]


def test_one_that_nobody_writes_any_more_is_old_while_the_next_is_loaded(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = followed(2)
    keeping.tables, keeping.current = [*keeping.tables, second], 2
    keeping.turn()
    assert keeping.state() is Live.LIVE, "its queries run on for a while"
    later = time.time_ns() + 31_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    keeping.manager.report_states()
    keeping.watching.settle()
    assert keeping.viewer.told is not None
    told = (keeping.viewer.told.state, keeping.viewer.told.message, keeping.viewer.told.since)
    assert told == (Live.STALE, "Generation 2 is being loaded.", keeping.switched)
    keeping.apply(second, row(9))
    keeping.reached[second.key] = LoadProgress(1, 1)
    keeping.turn()
    assert (keeping.state(), keeping.shown()) == (Live.LIVE, ["0:9"])


def test_another_contract_for_the_same_changelog_is_another_table(keeping: Keeping) -> None:
    first = keeping.tables[0]
    wider = msgspec.structs.replace(TABLE, retention=Retention(1, None))
    again = Followed(
        msgspec.structs.replace(first.key, table=wider), TableTopic(wider, first.key.topic, 1), 1
    )
    keeping.tables = [again]
    keeping.reached[again.key] = LoadProgress(0, 2)
    keeping.turn()
    assert keeping.shown() == ["0:1", "0:2"]
    keeping.apply(again, row(1), row(2))
    keeping.reached[again.key] = LoadProgress(2, 2)
    keeping.turn()
    assert keeping.shown() == ["0:2"]


def test_a_table_that_two_generations_share_is_kept_once_and_goes_on_under_the_new_number(
    keeping: Keeping,
) -> None:
    first = keeping.tables[0]
    store = keeping.manager.store("made")
    bytes_before = keeping.info().bytes
    second = shared(first, 2)
    keeping.tables, keeping.current = [second], 2
    keeping.turn()
    assert keeping.manager.store("made") is store, "never loaded twice"
    assert keeping.info().bytes == bytes_before
    assert keeping.info().generation == 2
    assert keeping.shown() == ["0:1", "0:2"]
    frames = [(f.header.generation, f.header.rows) for f in keeping.viewer.frames]
    assert frames == [(1, 2), (2, 2)], "one full window, and nothing empty before it"
    keeping.apply(second, row(3))
    assert keeping.shown() == ["0:1", "0:2", "0:3"]
    keeping.tables, keeping.current = [first], 1  # and back
    keeping.turn()
    assert keeping.manager.store("made") is store
    assert keeping.info().generation == 1
    assert keeping.shown() == ["0:1", "0:2", "0:3"]


def test_a_shared_table_takes_the_new_number_when_it_has_what_was_there_at_ready(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = shared(keeping.tables[0], 2)
    keeping.tables, keeping.current = [second], 2
    keeping.reached[second.key] = LoadProgress(2, 3)
    keeping.turn()
    assert (keeping.state(), keeping.info().generation) == (Live.LIVE, 1)
    assert keeping.shown() == ["0:1", "0:2"], "it goes on as it was"
    assert keeping.manager.ready
    later = time.time_ns() + 31_000_000_000
    with monkeypatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: later)
        keeping.manager.report_states()
    keeping.watching.settle()
    assert keeping.state() is Live.STALE, "it lacks what the current one had"
    keeping.apply(second, row(3))
    keeping.reached[second.key] = LoadProgress(3, 3)
    keeping.turn()
    assert (keeping.state(), keeping.info().generation) == (Live.LIVE, 2)
    assert keeping.shown() == ["0:1", "0:2", "0:3"]


def test_a_shared_table_is_not_left_behind_when_its_first_generation_is_forgotten(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = shared(keeping.tables[0], 2)
    keeping.tables, keeping.current = [second], 2
    keeping.turn()  # of generation 1 there is no record any more
    later = time.time_ns() + 31_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    keeping.manager.report_states()
    keeping.watching.settle()
    assert (keeping.state(), keeping.shown()) == (Live.LIVE, ["0:1", "0:2"])


def test_a_pipeline_that_has_been_silent_for_long_makes_tables_stale(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keeping.manager.pipeline().health is PipelineHealth.UNKNOWN
    keeping.turn(heartbeat=NOW)
    assert keeping.manager.pipeline().health is PipelineHealth.LIVE
    assert keeping.manager.pipeline().manifest.current == 1
    assert keeping.state() is Live.LIVE
    later = time.monotonic() + 3600
    monkeypatch.setattr(time, "monotonic", lambda: later)
    keeping.manager.report_states()
    keeping.watching.settle()
    assert keeping.state() is Live.STALE
    assert keeping.manager.pipeline().health is PipelineHealth.GONE
    assert keeping.manager.pipeline().message == "The pipeline does not run."


def test_a_heartbeat_that_waits_behind_changes_is_not_missed(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeping.turn(heartbeat=NOW)
    keeping.delay.on_read()
    later = time.monotonic() + 60
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert keeping.manager.pipeline().health is PipelineHealth.LIVE
    keeping.delay.on_applied()
    assert keeping.manager.pipeline().health is PipelineHealth.GONE
    keeping.turn(heartbeat=NOW + 1)
    assert keeping.state() is Live.LIVE


def test_a_pipeline_that_is_behind_makes_its_tables_stale_since_then(keeping: Keeping) -> None:
    keeping.turn(
        heartbeat=NOW, behind=TablesBehind(NOW - 40, "The pipeline has 5 messages still to read.")
    )
    assert keeping.state() is Live.STALE
    assert keeping.viewer.told is not None
    assert keeping.viewer.told.since == NOW - 40
    assert keeping.viewer.told.message == "The pipeline has 5 messages still to read."
    assert keeping.manager.pipeline().health is PipelineHealth.BEHIND
    keeping.turn(heartbeat=NOW + 1)
    assert keeping.state() is Live.LIVE
    assert keeping.manager.pipeline().health is PipelineHealth.LIVE


def test_one_slow_join_makes_only_its_own_table_stale(keeping: Keeping) -> None:
    why = "The join has 5 messages still to read."
    keeping.turn(heartbeat=NOW, behind=TablesBehind(NOW - 40, why, ("final_ui",)))
    assert keeping.state() is Live.LIVE, "another table is behind"
    assert keeping.manager.pipeline().health is PipelineHealth.BEHIND
    keeping.turn(heartbeat=NOW + 1, behind=TablesBehind(NOW - 40, why, ("made", "final_ui")))
    assert keeping.viewer.told is not None
    told = keeping.viewer.told
    assert (told.state, told.message, told.since) == (Live.STALE, why, NOW - 40)


GAP = Gap("history", 7, ("u1", "u2"), NOW)
WARNING = "Rows may be missing or show an older match for 2 keys (u1, u2): history limit."


def test_a_table_with_gaps_stays_live_and_says_what_it_may_lack(keeping: Keeping) -> None:
    topic = keeping.tables[0].key.topic
    frames = len(keeping.viewer.frames)
    keeping.turn(gaps={topic: (GAP,)})
    assert keeping.viewer.told is not None
    assert (keeping.viewer.told.state, keeping.viewer.told.message) == (Live.LIVE, WARNING)
    assert keeping.shown() == ["0:1", "0:2"]
    assert len(keeping.viewer.frames) == frames, "its rows are what they were"
    assert (keeping.info().message, keeping.info().gaps) == (WARNING, (GAP,))
    keeping.turn(gaps={topic: (GAP,)}, down="Kafka does not answer.")
    assert keeping.state() is Live.STALE
    assert keeping.viewer.told.message.endswith(f"when it is back. {WARNING}")
    keeping.turn()
    assert (keeping.state(), keeping.viewer.told.message) == (Live.LIVE, "")
    assert keeping.info().gaps == ()


def test_gaps_are_those_of_the_changelog_that_is_shown(keeping: Keeping) -> None:
    second = followed(2)
    gaps = {second.key.topic: (GAP,)}
    keeping.tables, keeping.current = [*keeping.tables, second], 2
    keeping.turn(gaps=gaps)
    assert keeping.info().gaps == (), "the one before is still shown"
    assert keeping.manager.log_lines == []
    keeping.apply(second, row(9))
    keeping.reached[second.key] = LoadProgress(1, 1)
    keeping.turn(gaps=gaps)
    assert (keeping.info().message, keeping.info().gaps) == (WARNING, (GAP,))


def test_each_reason_for_gaps_is_logged_once(keeping: Keeping) -> None:
    topic = keeping.tables[0].key.topic
    more = msgspec.structs.replace(GAP, messages=8)
    for gaps in ((GAP,), (GAP,), (more,), (more, Gap("memory", 1, ("u9",), NOW))):
        keeping.turn(gaps={topic: gaps})
    first, second = keeping.manager.log_lines
    assert first.startswith("Table made: rows may be missing or show an older match: history limit")
    assert "memory limit" in second
    assert "u9" not in second, "keys are data"
    keeping.turn()
    keeping.turn(gaps={topic: (GAP,)})
    assert len(keeping.manager.log_lines) == 3, "it is a new one, after there was none"


def test_retention_takes_the_oldest_and_viewers_see_them_go() -> None:
    keeping = Keeping()
    first = followed(1, making.made_table(version=False, retention=Retention(2, 3600)))
    keeping.tables, keeping.current = [first], 1
    keeping.reached[first.key] = LoadProgress(0, 0)
    keeping.turn()
    keeping.apply(first, row(1), row(2), row(3))
    assert keeping.shown() == ["0:2", "0:3"]
    keeping.apply(first, row(4, ts=NOW - 7200 * 1_000_000))
    assert keeping.shown() == ["0:2", "0:3"]
    keeping.manager.expire()
    assert keeping.info().rows == 2
    assert keeping.info().max_rows == 2


def test_a_clock_that_jumps_forward_takes_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    keeping = Keeping()
    day = Retention(None, 24 * 3600)
    first = followed(1, making.made_table(version=False, retention=day))
    keeping.tables, keeping.current = [first], 1
    keeping.reached[first.key] = LoadProgress(0, 0)
    keeping.turn()
    keeping.apply(first, row(1, ts=NOW - 20 * HOUR), row(2))
    jumped = time.time_ns() + 30 * 24 * HOUR * 1000
    monkeypatch.setattr(time, "time_ns", lambda: jumped)
    keeping.manager.expire()
    keeping.apply(first, row(3))
    assert keeping.shown() == ["0:1", "0:2", "0:3"]
    assert [line for line in keeping.manager.log_lines if "jumped forward by 2,59" in line]
    in_five_hours = time.monotonic() + 5 * 3600
    monkeypatch.setattr(time, "monotonic", lambda: in_five_hours)
    keeping.manager.expire()
    keeping.watching.settle()
    assert keeping.shown() == ["0:2", "0:3"], "it follows, at most twice as fast as time passes"


def test_rows_do_not_expire_before_their_time_by_the_pipelines_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A gateway that starts on a machine whose clock is wrong."""
    wrong = time.time_ns() + 30 * 24 * HOUR * 1000
    monkeypatch.setattr(time, "time_ns", lambda: wrong)
    keeping = Keeping()
    first = followed(1, making.made_table(version=False, retention=Retention(None, 24 * 3600)))
    keeping.tables, keeping.current = [first], 1
    keeping.reached[first.key] = LoadProgress(0, 0)
    keeping.turn(heartbeat=NOW)
    keeping.apply(first, row(1, ts=NOW - 25 * HOUR), row(2, ts=NOW - 20 * HOUR), row(3))
    assert keeping.shown() == ["0:2", "0:3"]
    keeping.turn(heartbeat=NOW + 5 * HOUR)
    keeping.manager.expire()
    keeping.watching.settle()
    assert keeping.shown() == ["0:3"]


def test_a_table_that_has_used_up_its_memory_loses_its_oldest_rows_before_everyones_eyes() -> None:
    keeping = Keeping(MEGABYTE)
    first = followed(1)
    keeping.tables, keeping.current = [first], 1
    keeping.reached[first.key] = LoadProgress(0, 0)
    keeping.turn()
    keeping.watching.move(keeping.viewer, Window(0, 3))
    for start in range(0, 20_000, 500):
        keeping.apply(first, *(row(n, text=f"text {n}") for n in range(start, start + 500)))
    info = keeping.info()
    assert info.max_bytes == MEGABYTE
    assert info.bytes < 1.5 * MEGABYTE
    assert 1000 < info.rows < 20_000
    oldest = 20_000 - info.rows
    assert keeping.shown() == [f"0:{n}" for n in range(oldest, oldest + 3)]
    keeping.manager.expire()
    assert keeping.info().rows == info.rows


def test_changes_for_a_table_that_nobody_announced_are_passed_over(keeping: Keeping) -> None:
    keeping.manager.apply(Key("g9.made", "?", TABLE), [making.batch(TABLE, [row(1)])])
    assert keeping.manager.rows_applied == 2


def test_a_new_message_in_an_old_row_is_no_lag() -> None:
    """As in a left join: the row keeps its `ts`, and the account that changed it is new."""
    trace = Column("_accounts_ts", TIMESTAMP, Role.TRACE)
    joined = msgspec.structs.replace(TABLE, columns=(*TABLE.columns, trace))
    keeping, one = Keeping(), followed(1, joined)
    keeping.tables, keeping.current = [one], 1
    keeping.turn()
    keeping.apply(one, row(1, ts=NOW - 2 * HOUR) | {"_accounts_ts": None})
    keeping.reached[one.key] = LoadProgress(1, 1)
    keeping.turn()
    assert 7200 <= keeping.info().lag_seconds < 10_800
    keeping.apply(one, row(1, ts=NOW - 2 * HOUR) | {"_accounts_ts": NOW})
    assert keeping.info().lag_seconds < 3600
    assert keeping.info().newest == NOW - 2 * HOUR


def test_what_is_said_about_a_table_is_so(keeping: Keeping) -> None:
    info = keeping.info()
    assert (info.name, info.state, info.generation, info.rows) == ("made", Live.LIVE, 1, 2)
    assert info.columns == TABLE.columns
    assert info.newest == NOW + 2
    assert info.lag_seconds < 3600
    assert info.views == 1
    store = keeping.manager.store("made")
    assert store is not None
    assert info.bytes == store.nbytes
    keeping.hub.publish(PublicationTime(0, keeping.hub.tick, 1e9, 0))
    assert keeping.manager.message == "All tables are loaded."


def test_requests_without_a_key_are_told_no_names_and_no_numbers() -> None:
    keeping = Keeping()
    keeping.tables, keeping.current = [], None
    down = "authentication failed for user gateway at 10.1.2.3:9093 (SCRAM-SHA-512)."
    keeping.turn(down=down)
    assert keeping.manager.message.startswith(down)
    assert keeping.manager.public_message == "Kafka cannot be read."
    keeping.turn()
    assert keeping.manager.public_message == keeping.manager.message
    first = followed(1)
    keeping.tables, keeping.current = [first], 1
    keeping.reached[first.key] = LoadProgress(3, 5)
    keeping.turn()
    assert keeping.manager.message == "Loading: 3 of 5 changes."
    assert keeping.manager.public_message == "Tables are being loaded."
    keeping.reached[first.key] = LoadProgress(5, 5)
    keeping.turn()
    assert keeping.manager.public_message == keeping.manager.message == "All tables are loaded."


def test_rows_dropped_for_lack_of_memory_are_told_and_counted() -> None:
    keeping = Keeping(table_bytes=MEGABYTE)
    first = followed(1)
    keeping.tables, keeping.current = [first], 1
    keeping.turn()
    for start in range(0, 12_000, 1000):
        keeping.apply(first, *(row(offset) for offset in range(start, start + 1000)))
    keeping.reached[first.key] = LoadProgress(12_000, 12_000)
    keeping.turn()
    info = keeping.info()
    (gap,) = info.gaps
    assert (gap.reason, gap.messages) == ("table_memory", 12_000 - info.rows)
    assert 0 < info.rows < 12_000
    assert info.state is Live.LIVE
    assert "memory limit of the table" in info.message
    assert keeping.viewer.told is not None
    assert keeping.viewer.told.message == info.message
    keeping.turn()
    assert len([line for line in keeping.manager.log_lines if "table_bytes" in line]) == 1
    assert keeping.info().gaps == (gap,), "it is the same as before, with its time"


def test_retention_that_was_configured_is_no_gap() -> None:
    limited = msgspec.structs.replace(TABLE, retention=Retention(rows=10, age_seconds=3600))
    keeping = Keeping()
    first = followed(1, limited)
    keeping.tables, keeping.current = [first], 1
    keeping.turn()
    keeping.apply(first, *(row(offset) for offset in range(50)), row(99, ts=1))
    keeping.reached[first.key] = LoadProgress(51, 51)
    keeping.turn()
    info = keeping.info()
    assert (info.rows, info.gaps, info.message) == (10, (), "")


def test_unreadable_records_are_told_and_counted(keeping: Keeping) -> None:
    (first,) = keeping.tables
    keeping.manager.apply(first.key, [], 3)
    keeping.turn()
    info = keeping.info()
    assert [(gap.reason, gap.messages) for gap in info.gaps] == [("unreadable", 3)]
    assert info.message == "Rows are missing: unreadable changelog records (3)."


def test_what_kafka_lost_of_a_changelog_is_told_and_listed(keeping: Keeping) -> None:
    (first,) = keeping.tables
    known = manifest(1, first, switched=keeping.switched)
    lost = {first.key: {GapReason.RETENTION: 7, GapReason.TRUNCATED: 2}}
    keeping.manager.update(FeedUpdate((), (first,), dict(keeping.reached), known, "", lost))
    keeping.watching.settle()
    assert keeping.viewer.told is not None
    assert keeping.viewer.told.message == (
        "Rows are missing: changelog records deleted before they were read (7); "
        "changelog records lost by Kafka (2)."
    )
    gaps = {gap.reason: gap.messages for gap in keeping.info().gaps}
    assert gaps == {"retention": 7, "truncated": 2}
    assert len(keeping.manager.log_lines) == 2


def test_a_switch_that_cannot_be_read_leaves_what_is_shown_and_makes_it_stale(
    keeping: Keeping,
) -> None:
    (first,) = keeping.tables
    newer = UnreadableRecord(SkipReason.NEWER_FORMAT, "it has format 2")
    known = msgspec.structs.replace(
        manifest(1, first),
        heartbeat=time.time_ns() // 1000,
        unknown_current=2,
        unreadable={b"generation:2": newer},
        skipped={"newer_format": 3},
    )
    keeping.manager.update(FeedUpdate((), (first,), dict(keeping.reached), known, ""))
    keeping.watching.settle()
    assert keeping.shown() == ["0:1", "0:2"]
    assert keeping.state() is Live.STALE
    info = keeping.manager.pipeline()
    assert info.health is PipelineHealth.BEHIND
    assert info.message == (
        "Generation 2 is current, and its record in the manifest cannot be read. Records of the "
        "manifest (generation:2) were written by a newer Evergrid; upgrade the gateway."
    )
    assert keeping.manager.manifest_skipped == {"newer_format": 3}


def test_a_heartbeat_that_cannot_be_read_is_no_pipeline_that_is_gone(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = UnreadableRecord(SkipReason.NEWER_FORMAT, "it has format 2")
    known = manifest(1, *keeping.tables)
    known = msgspec.structs.replace(known, heartbeat=NOW, unreadable={HEARTBEAT_KEY: newer})
    keeping.manager.update(FeedUpdate((), keeping.tables, dict(keeping.reached), known, ""))
    later = time.monotonic() + 3600
    monkeypatch.setattr(time, "monotonic", lambda: later)
    keeping.manager.report_states()
    keeping.watching.settle()
    info = keeping.manager.pipeline()
    assert info.health is PipelineHealth.UNKNOWN
    assert info.message.startswith("The pipeline's heartbeat cannot be read. ")
    assert keeping.viewer.told is not None
    assert "upgrade the gateway" in keeping.viewer.told.message


def test_rows_that_are_applied_and_published_are_traced_by_their_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[dict[str, object]] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append({"line": record.getMessage(), **getattr(record, "ids", {})})

    monkeypatch.setattr(LOG, "handlers", [Collector()])
    level = LOG.level
    LOG.setLevel(logging.DEBUG)
    try:
        keeping, one = Keeping(), followed(1)
        keeping.tables, keeping.current = [one], 1
        keeping.turn()
        keeping.apply(one, row(4711), row(4712))
        keeping.reached[one.key] = LoadProgress(2, 2)
        keeping.turn()
    finally:
        LOG.setLevel(level)
    applied, published = lines
    ids = ["0:4711", "0:4712"]
    assert applied == {"line": "applied", "topic": "g1.made", "table": "made", "rows": ids}
    assert published.pop("sequence")
    assert published == {"line": "published", "table": "made", "generation": 1, "rows": ids}
