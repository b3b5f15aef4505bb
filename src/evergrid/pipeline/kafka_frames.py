"""Source topics and ticks as DataFrames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pyspark.sql import DataFrame, SparkSession

from evergrid.config.settings import Connection
from evergrid.kafka.properties import java_properties

Offsets = Mapping[int, int]

GROUP = "evergrid"  # the prefix of all consumer groups of Evergrid

# In micro-batches Spark asks Kafka for the partition's first and last offset after each poll, so a
# poll takes all that one fetch brings.
_FETCHING = {"kafka.max.poll.records": "100000"}

_MESSAGE = ("topic", "partition", "offset", "timestamp", "value")


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
