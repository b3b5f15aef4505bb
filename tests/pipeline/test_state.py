"""The state of a join is bounded by its table's retention, and each row is written once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pyspark.sql import SparkSession

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.config import load
from evergrid.config.settings import Connection, Settings
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.join import JoinType
from evergrid.model.source import TopicEnd
from evergrid.model.table import Retention
from evergrid.pipeline.engine.join_changes import Joining
from evergrid.pipeline.kafka_frames import message_stream, start_writing, tick_stream

START_MS = 1_767_225_600_000
KEYS = 8
ROUNDS = 10
MESSAGES = 400  # of each source in a round
KEPT_ROWS = 40
MEGABYTE = 1 << 20
CLOCK_SLACK_SECONDS = 11  # the engine bears clocks that differ by ten


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with EmbeddedBroker(tmp_path_factory.mktemp("state-broker")) as broker:
        yield load(None, {"EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap})


@pytest.mark.parametrize("kind", [JoinType.ASOF, JoinType.LEFT])
def test_ten_times_what_retention_keeps_leaves_no_more_state(
    spark: SparkSession, settings: Settings, tmp_path: Path, kind: JoinType
) -> None:
    run = Rounds(spark, settings, tmp_path / "checkpoint", kind, Retention(rows=KEPT_ROWS))
    sizes = [run.next(START_MS + 1000 * MESSAGES * number, 1000) for number in range(ROUNDS)]
    print(f"{kind.value}: {sizes} entries after each {2 * MESSAGES} messages")
    assert sizes[-1] <= 1.3 * max(sizes[:3])
    assert sizes[-1] < 2 * MESSAGES
    assert run.changes() >= KEPT_ROWS


def test_an_inner_join_keeps_no_message_for_longer_than_twice_the_age(
    spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    retention = Retention(age_seconds=1)
    run = Rounds(spark, settings, tmp_path / "checkpoint", JoinType.INNER, retention)
    sizes = [run.next(now_ms(), 0) for _ in range(3)]
    expired = time.monotonic() + 2 * 1 + CLOCK_SLACK_SECONDS
    while time.monotonic() < expired:
        time.sleep(0.1)
    sizes.append(run.next(now_ms(), 0))
    print(f"{sizes} entries after each {2 * MESSAGES} messages")
    assert run.changes() >= MESSAGES
    assert sizes[-1] <= 2 * MESSAGES


def test_an_inner_join_of_a_hot_key_writes_only_rows_that_its_table_keeps(
    spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    hot = Rounds(spark, settings, tmp_path / "hot", JoinType.INNER, Retention(rows=KEPT_ROWS), 1)
    hot.next(START_MS, 1000)
    assert hot.changes() == KEPT_ROWS  # of MESSAGES * MESSAGES
    all_equal = Rounds(
        spark, settings, tmp_path / "equal", JoinType.INNER, Retention(rows=KEPT_ROWS), 1
    )
    all_equal.next(START_MS, 0)
    assert all_equal.changes() == KEPT_ROWS


class Rounds:
    """A join that reads further messages in each round, in micro-batches on one checkpoint."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        checkpoint: Path,
        kind: JoinType,
        retention: Retention,
        keys: int = KEYS,
    ) -> None:
        self._spark = spark
        self._connection = settings.kafka.internal
        self._checkpoint = checkpoint
        self._keys = keys
        self._names = {
            side: f"{side}-{kind.value}-{checkpoint.name}"
            for side in ("users", "accounts", "ticks", "out")
        }
        specs = [NewTopicSpec(name, 1, 1, {"retention.ms": "-1"}) for name in self._names.values()]
        topics.create(self._connection, specs)
        self._joining = Joining(
            query="g1.join-final",
            join=msgspec.structs.replace(settings.joins["final"], type=kind),
            sources={
                name: msgspec.structs.replace(source, topic=self._names[name])
                for name, source in settings.sources.items()
            },
            retention=retention,
            limits=settings.limits,
            reducers=settings.spark.shuffle_partitions,
            live=False,
        )
        self._number = 0

    def next(self, start_ms: int, step_ms: int) -> int:
        """Send and join messages from this time on; returns how many the state then has."""
        names, self._number = self._names, self._number + 1
        send(self._connection, names, self._number, start_ms, step_ms, self._keys)
        starts = {names["users"]: {0: 0}, names["accounts"]: {0: 0}}
        messages = message_stream(self._spark, self._connection, starts, "state", None)
        ticks = tick_stream(self._spark, self._connection, names["ticks"], "state")
        changes = self._joining.changes(messages, ticks, names["out"], names["ticks"])
        query = start_writing(
            changes,
            self._connection,
            f"{names['out']}-{self._number}",
            self._checkpoint,
            largest_change=MEGABYTE,
            batch_seconds=None,
        )
        assert query.awaitTermination(300)
        return entries(self._spark, self._checkpoint)

    def changes(self) -> int:
        return topics.offsets(self._connection, self._names["out"], TopicEnd.LATEST)[0]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def send(
    connection: Connection,
    names: dict[str, str],
    number: int,
    start_ms: int,
    step_ms: int,
    keys: int,
) -> None:
    """A round of messages, in order, on keys that come again."""
    sender = Sender(connection)
    for index in range(MESSAGES):
        at = start_ms + step_ms * index
        key = f"u{index % keys}"
        user = {"userId": key, "name": f"name {number}", "age": index}
        account = {"userId": key, "accountType": f"{number}", "balance": index}
        sender.send(names["users"], json.dumps(user).encode(), timestamp_ms=at)
        sender.send(names["accounts"], json.dumps(account).encode(), timestamp_ms=at)
    sender.flush()


def entries(spark: SparkSession, checkpoint: Path) -> int:
    """How many messages the state holds, by Spark's own reader of states."""
    reader = spark.read.format("statestore").option("stateVarName", "messages")
    return reader.load(str(checkpoint)).count()
