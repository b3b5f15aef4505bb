"""A table is stale when its query's output stands still, and no other table with it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.orchestrator import test_query_pool
from tests.orchestrator.test_query_pool import FakeQuery, Reports, plan

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.manifest import TablesBehind
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import NewTopicSpec
from evergrid.orchestrator import supervisor
from evergrid.orchestrator.query_pool import QueryPool
from evergrid.orchestrator.supervisor import STALE_SECONDS, Supervisor
from evergrid.pipeline.plan import Plan

without_spark = test_query_pool.without_spark

MICROSECONDS = 1_000_000


class Clock:
    def __init__(self) -> None:
        self.micros = 1_000 * MICROSECONDS

    def now(self) -> int:
        return self.micros

    def forward(self, seconds: float) -> None:
        self.micros += int(seconds * MICROSECONDS)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(supervisor, "now", made.now)
    monkeypatch.setattr(supervisor, "_FRESH_SECONDS", 0.0)
    return made


def plan_of(settings: Settings) -> Plan:
    """One that knows the topics by the ids that the broker gave them."""
    made = plan(settings, 1)
    found = topics.describe(settings.kafka.source, list(made.generation.topics))
    read = {
        name: msgspec.structs.replace(topic, topic_id=found[name].topic_id)
        for name, topic in made.generation.topics.items()
    }
    generation = msgspec.structs.replace(made.generation, topics=read)
    return msgspec.structs.replace(made, generation=generation)


def test_a_join_that_stands_still_makes_its_own_table_stale(
    broker: EmbeddedBroker, tmp_path: Path, clock: Clock
) -> None:
    settings = load(
        None,
        {"EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap, "EVERGRID_DATA_DIR": str(tmp_path)},
    )
    connection = settings.kafka.source
    names = ("users", "accounts")
    topics.create(connection, [NewTopicSpec(name, 1, 1, {}) for name in names])
    pool = QueryPool(settings, Reports(), print)
    guard = Supervisor(plan_of(settings), pool, print, fresh_at=clock.now())
    guard.start()
    assert guard.look() == ""
    assert guard.behind == TablesBehind()

    sender = Sender(connection)
    for name in names:
        sender.send(name, b"{}")
    sender.flush(10.0)
    sent = clock.now()
    for query in FakeQuery.made:  # all consumers have read it, but the join reports nothing
        query.consumed = {(name, 0): 1 for name in query.topics}
    for _ in range(4):
        clock.forward(STALE_SECONDS / 4)
        guard.look()
    assert guard.behind == TablesBehind()
    clock.forward(0.5)
    guard.look()
    behind = guard.behind
    assert behind.tables == ("final_ui",)
    assert behind.why == "The pipeline has 2 messages still to write."
    assert abs(behind.since - sent) <= STALE_SECONDS * MICROSECONDS / 4

    (join,) = (query for query in FakeQuery.made if query.id.is_join)
    join.written.reach({("users", 0): 1, ("accounts", 0): 1})
    guard.look()
    assert guard.behind == TablesBehind()
