"""Source topics and ticks as DataFrames, and the queries that write changes to the changelogs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from evergrid.config.settings import Connection
from evergrid.kafka.properties import java_properties

Offsets = Mapping[int, int]

GROUP = "evergrid"  # the prefix of all consumer groups of Evergrid

# In micro-batches Spark asks Kafka for the partition's first and last offset after each poll, so a
# poll takes all that one fetch brings.
_FETCHING = {"kafka.max.poll.records": "100000"}

_MESSAGE = ("topic", "partition", "offset", "timestamp", "value")

# Java refuses a delivery that has less time than its waiting and its request together.
_TIMES = frozenset(("kafka.linger.ms", "kafka.delivery.timeout.ms"))


def kafka_options(connection: Connection) -> dict[str, str]:
    """A connection's settings for Spark's Kafka source and sink.

    Secrets are read now, so a restarted query uses rotated ones.
    """
    properties = java_properties(connection.renewed())
    return {f"kafka.{name}": value for name, value in properties.items()}


def message_stream(
    spark: SparkSession,
    connection: Connection,
    starts: Mapping[str, Offsets],
    group: str,
    rows_per_batch: int | None,
) -> DataFrame:
    """Messages of topics from `starts` on. Messages that were deleted before they were read are an
    error, never a gap.

    `group` is the prefix of the consumer groups. Real-time mode has no `rows_per_batch`.
    """
    options = _FETCHING | _options(connection, starts, _offsets_json(starts), group)
    if rows_per_batch is not None:
        options["maxOffsetsPerTrigger"] = str(rows_per_batch)
    return spark.readStream.format("kafka").options(**options).load().select(*_MESSAGE)


def tick_stream(spark: SparkSession, connection: Connection, topic: str, group: str) -> DataFrame:
    """Ticks as they arrive; earlier ones are not needed."""
    options = _options(connection, [topic], "latest", f"{group}-ticks")
    options["failOnDataLoss"] = "false"
    return spark.readStream.format("kafka").options(**options).load().select("timestamp")


def message_history(
    spark: SparkSession, connection: Connection, topic: str, start: Offsets, end: Offsets
) -> DataFrame:
    """The messages from `start` up to `end`, as one batch."""
    options = _options(connection, [topic], _offsets_json({topic: start}), GROUP)
    options["endingOffsets"] = _offsets_json({topic: end})
    return spark.read.format("kafka").options(**options).load().select(*_MESSAGE)


def start_writing(
    changes: DataFrame,
    connection: Connection,
    name: str,
    checkpoint: Path,
    *,
    largest_change: int,
    batch_seconds: int | None,
) -> StreamingQuery:
    """Start a query that writes changes to the topics they name.

    In real-time mode, with batches of so many seconds, each change is written when its message
    arrives. Without `batch_seconds` it writes micro-batches, and ends at the present end of the
    topics.
    """
    live = batch_seconds is not None
    options = {
        "kafka.batch.size": "65536" if live else "262144",
        **kafka_options(connection),
        "kafka.max.request.size": str(largest_change),
        "kafka.buffer.memory": str(max(33_554_432, 4 * largest_change)),
    }
    if not _TIMES & options.keys():
        # Waiting a few milliseconds gives fuller requests, which cost client and broker less.
        options["kafka.linger.ms"] = "3" if live else "20"
    writer = (
        changes.select("topic", "key", "value")
        .writeStream.queryName(name)
        .format("kafka")
        .options(**options)
        .option("checkpointLocation", str(checkpoint))
        .outputMode("update")
    )
    if not live:
        return writer.trigger(availableNow=True).start()
    # PySpark's type hints do not know this trigger yet.
    return writer.trigger(realTime=f"{batch_seconds} seconds").start()  # type: ignore[call-overload,no-any-return]


def _options(
    connection: Connection, topics: Iterable[str], start: str, group: str
) -> dict[str, str]:
    return {
        **kafka_options(connection),
        "subscribe": ",".join(topics),
        "startingOffsets": start,
        "failOnDataLoss": "true",
        "groupIdPrefix": group,
    }


def _offsets_json(starts: Mapping[str, Offsets]) -> str:
    return json.dumps(
        {
            topic: {str(partition): offset for partition, offset in offsets.items()}
            for topic, offsets in starts.items()
        }
    )
