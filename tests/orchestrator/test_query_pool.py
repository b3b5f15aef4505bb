"""Queries that generations share, their restarts, and how far they are said to be."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar, cast

import pytest
from pyspark.sql import SparkSession

from evergrid.changelog.join_reports import PartitionReport, Report, ReportReader
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka.topics import Edges
from evergrid.model.errors import DataError, LinkError
from evergrid.model.generation import Generation, SourceTopic, State, Times
from evergrid.orchestrator import query_pool
from evergrid.orchestrator.query_pool import QueryPool, SupervisedQuery
from evergrid.pipeline.plan import Plan, QueryId
from evergrid.pipeline.query_failures import Failure
from evergrid.pipeline.query_positions import Places, Positions
from evergrid.pipeline.streaming_query import Phase, Query

USERS, ACCOUNTS = ("users", 0), ("accounts", 0)
JOIN = QueryId(1, "join-final")
TABLES = {"raw-users": "users_ui", "raw-accounts": "accounts_ui", "join-final": "final_ui"}


class FakeQuery:
    """A query without Spark; a test says how it fares."""

    damaged: ClassVar[set[str]] = set()
    made: ClassVar[list[FakeQuery]] = []

    def __init__(self, plan: Plan, query: QueryId, _watch: object) -> None:
        self.id = query
        self.table = TABLES[query.name]
        self.topics = ("users", "accounts") if query.is_join else ("users",)
        self.phase = Phase.STOPPED
        self.written = Positions()
        self.read = Positions() if query.is_join else self.written
        self.seconds_since_start = 0.0
        self.is_observed = True
        self.reducers = 2
        self.committed: Places = {}
        self.consumed: Places = {}
        self.starts = 0
        self.stop_fails = False
        self.made.append(self)

    def start(self) -> None:
        if self.id.name in self.damaged:
            raise DataError("its commits are gone")
        self.starts += 1
        self.written.begin(self.committed)
        self.read.begin(self.committed)
        self.phase = Phase.LIVE

    def stop(self) -> None:
        if self.stop_fails:
            raise LinkError("it does not end")
        self.phase = Phase.STOPPED

    def advance(self) -> Failure | None:
        return None

    def look(self, _first: Places) -> None:
        self.read.consumed(f"start {self.starts}", self.consumed, {})

    def look_at_checkpoint(self) -> None:
        self.written.reach(self.committed)


class Reports(ReportReader):
    """Reports that a test makes up."""

    def __init__(self) -> None:
        super().__init__(load(None, {}).kafka.internal, "evergrid")

    def add(self, run: str, reducer: int, *seen: PartitionReport) -> None:
        report = Report(str(JOIN), run, 0, reducer, seen)
        self._progress[report.query].add(report, time.monotonic())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(None, {"EVERGRID_DATA_DIR": str(tmp_path)})


@pytest.fixture(autouse=True)
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_pool, "Query", FakeQuery)
    monkeypatch.setattr(FakeQuery, "damaged", set())
    monkeypatch.setattr(FakeQuery, "made", [])


def plan(settings: Settings, number: int, raw: int = 1) -> Plan:
    topics = {name: SourceTopic(name, {0: 0}, raw=raw, made=1) for name in ("users", "accounts")}
    generation = Generation(
        number=number,
        state=State.PREPARING,
        sources=settings.sources,
        joins=settings.joins,
        topics=topics,
        tables={},
        times=Times(created=1),
    )
    return Plan(cast(SparkSession, None), settings, generation)


def running() -> list[str]:
    return sorted(str(one.id) for one in FakeQuery.made if one.phase is Phase.LIVE)


@pytest.fixture
def pool(settings: Settings) -> QueryPool:
    return QueryPool(settings, Reports(), lambda _: None)


RAWS = ["g1.raw-accounts", "g1.raw-users"]


def test_a_shared_query_runs_once_and_ends_with_its_last_user(
    pool: QueryPool, settings: Settings
) -> None:
    pool.acquire(plan(settings, 1))
    pool.acquire(plan(settings, 2))
    assert running() == ["g1.join-final", *RAWS, "g2.join-final"]
    assert len(FakeQuery.made) == 4
    pool.release(1)
    assert running() == [*RAWS, "g2.join-final"]
    pool.release(2)
    assert running() == []
    pool.acquire(plan(settings, 1))
    assert running() == ["g1.join-final", *RAWS], "it is made anew"


def test_a_query_that_does_not_end_is_stopped_again(pool: QueryPool, settings: Settings) -> None:
    pool.acquire(plan(settings, 1))
    FakeQuery.made[0].stop_fails = True
    with pytest.raises(LinkError):
        pool.release(1)
    assert running() == ["g1.join-final"], "the others are stopped all the same"
    FakeQuery.made[0].stop_fails = False
    pool.release(1)
    assert running() == []


@pytest.mark.parametrize("damaged", ["join-final", "raw-users", "raw-accounts"])
def test_of_one_whose_checkpoint_is_damaged_nothing_is_left_running(
    pool: QueryPool, settings: Settings, damaged: str
) -> None:
    FakeQuery.damaged.add(damaged)
    with pytest.raises(DataError):
        pool.acquire(plan(settings, 1))
    assert running() == []
    FakeQuery.damaged.clear()
    pool.acquire(plan(settings, 1))
    assert running() == ["g1.join-final", *RAWS], "what never ran is not taken for running"


def test_a_damaged_join_leaves_what_it_shared_running(pool: QueryPool, settings: Settings) -> None:
    pool.acquire(plan(settings, 1))
    FakeQuery.damaged.add("join-final")
    with pytest.raises(DataError):
        pool.acquire(plan(settings, 2))
    assert running() == ["g1.join-final", *RAWS]


def test_a_checkpoint_that_is_damaged_at_a_restart_is_told(
    pool: QueryPool, settings: Settings
) -> None:
    mine = pool.acquire(plan(settings, 1))
    FakeQuery.damaged.add("raw-users")
    pool.restart(1)
    assert "commits are gone" in pool.look(mine)


class Join:
    """A join with one partition on each side and two reducers, as the pool watches it."""

    def __init__(self, settings: Settings) -> None:
        self.reports = Reports()
        self.query = FakeQuery(plan(settings, 1), JOIN, None)
        self.query.committed = {USERS: 10, ACCOUNTS: 0}
        self.supervised = SupervisedQuery(
            cast(Query, self.query), settings, self.reports, lambda _: None
        )
        self.supervised.start()

    def left(self, users: int) -> int:
        """How many messages are to be written, of so many users."""
        ends = {USERS: users, ACCOUNTS: 0}
        self.supervised.observe(Edges({USERS: 0, ACCOUNTS: 0}, ends))
        return self.supervised.written.left(ends)


@pytest.fixture
def join(settings: Settings) -> Join:
    return Join(settings)


def test_a_join_has_written_what_it_reports(join: Join) -> None:
    join.query.consumed = {USERS: 100, ACCOUNTS: 0}
    assert join.left(100) == 90, "what was read may be on its way"
    join.reports.add("a", 0, PartitionReport(0, 0, 40, 60, (40, 10)))
    assert join.left(100) == 90
    join.reports.add("a", 1, PartitionReport(0, 0, 10, 59, (39, 10)))
    assert join.left(100) == 100 - 61


def test_a_restart_begins_from_the_checkpoint_again(join: Join) -> None:
    """Its rows are written again as they were then, so the table is not live meanwhile."""
    join.query.consumed = {USERS: 100, ACCOUNTS: 0}
    join.reports.add("a", 0, PartitionReport(0, 0, 90, 99, (90, 0)))
    assert join.left(100) == 0
    join.query.consumed = {}
    join.supervised.restart()
    assert join.left(100) == 90
    join.reports.add("a", 0, PartitionReport(0, 0, 90, 99, (90, 0)))
    assert join.left(100) == 90, "a report of the run before was on its way"
    join.reports.add("b", 0, PartitionReport(0, 0, 90, 99, (90, 0)))
    assert join.left(100) == 0


def test_reducers_that_have_just_started_are_not_taken_for_quiet_ones(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query failed with messages on their way. What its consumers had read says nothing of those
    that have started instead, whose reducers report at once that they have got nothing."""
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    join.query.consumed = {USERS: 100, ACCOUNTS: 0}
    assert join.left(100) == 90
    clock[0] += 60
    join.query.consumed = {}
    join.supervised.restart()
    for _ in range(10):
        clock[0] += 5
        join.reports.add("b", 0)
        join.reports.add("b", 1)
        assert join.left(100) == 90


def test_offsets_without_a_message_at_the_end_are_passed_when_all_is_quiet(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    join.query.consumed = {USERS: 100, ACCOUNTS: 0}
    join.reports.add("a", 0, PartitionReport(0, 0, 88, 98, (88, 0)))  # 99 ends a transaction
    join.reports.add("a", 1)
    assert join.left(100) == 1
    clock[0] += 5
    assert join.left(100) == 1, "nobody has reported since"
    join.reports.add("a", 0, PartitionReport(0, 0, 88, 98, (88, 0)))
    join.reports.add("a", 1)
    assert join.left(100) == 0
