"""The state of a join is bounded by its table's retention, and each row is written once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pyspark.sql import SparkSession

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.join import JoinType
from evergrid.model.source import TopicEnd
from evergrid.model.table import Retention
from evergrid.pipeline.engine.join_changes import Joining
from evergrid.pipeline.sink import ChangelogSink
from evergrid.pipeline.source_frames import message_stream, tick_stream

START_MS = 1_767_225_600_000
KEYS = 8
ROUNDS = 10
MESSAGES = 400  # of each source in a round
KEPT_ROWS = 40
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with EmbeddedBroker(tmp_path_factory.mktemp("state-broker")) as broker:
        yield load(None, {"EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap})


@pytest.mark.parametrize("kind", [JoinType.ASOF, JoinType.LEFT])
def test_ten_times_what_retention_keeps_leaves_no_more_state(
    spark: SparkSession, settings: Settings, tmp_path: Path, kind: JoinType
) -> None:
    connection = settings.kafka.internal
    names = {side: f"{side}-{kind.value}" for side in ("users", "accounts", "ticks", "out")}
    specs = [NewTopicSpec(name, 1, 1, {"retention.ms": "-1"}) for name in names.values()]
    topics.create(connection, specs)
    sources = {
        name: msgspec.structs.replace(source, topic=names[name])
        for name, source in settings.sources.items()
    }
    join = msgspec.structs.replace(settings.joins["final"], type=kind)
    joining = Joining(
        query="g1.join-final",
        join=join,
        sources=sources,
        retention=Retention(rows=KEPT_ROWS),
        limits=settings.limits,
        reducers=settings.spark.shuffle_partitions,
        live=False,
    )
    starts = {names["users"]: {0: 0}, names["accounts"]: {0: 0}}
    sizes = []
    for number in range(ROUNDS):
        send(settings, names, number)
        messages = message_stream(spark, connection, starts, "state", None)
        ticks = tick_stream(spark, connection, names["ticks"], "state")
        changes = joining.changes(messages, ticks, names["out"], names["ticks"])
        sink = ChangelogSink(connection, MEGABYTE)
        name = f"state-{kind.value}-{number}"
        query = sink.start(changes, name, tmp_path / "checkpoint", None)
        assert query.awaitTermination(300)
        sizes.append(entries(spark, tmp_path / "checkpoint"))
    print(f"{kind.value}: {sizes} entries after each {2 * MESSAGES} messages")
    assert sizes[-1] <= 1.3 * max(sizes[:3])
    assert sizes[-1] < 2 * MESSAGES
    made = topics.offsets(connection, names["out"], TopicEnd.LATEST)[0]
    assert made >= KEPT_ROWS


def send(settings: Settings, names: dict[str, str], number: int) -> None:
    """A round of messages later than all before, in order, on keys that come again."""
    sender = Sender(settings.kafka.internal)
    for index in range(MESSAGES):
        at = START_MS + 1000 * (number * MESSAGES + index)
        key = f"u{index % KEYS}"
        user = {"userId": key, "name": f"name {number}", "age": index}
        account = {"userId": key, "accountType": f"{number}", "balance": index}
        sender.send(names["users"], json.dumps(user).encode(), timestamp_ms=at)
        sender.send(names["accounts"], json.dumps(account).encode(), timestamp_ms=at)
    sender.flush()


def entries(spark: SparkSession, checkpoint: Path) -> int:
    """How many messages the state holds, by Spark's own reader of states."""
    reader = spark.read.format("statestore").option("stateVarName", "messages")
    return reader.load(str(checkpoint)).count()
