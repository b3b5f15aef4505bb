"""Writes changes from Spark to the changelogs, one by one or in micro-batches."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from evergrid.config.settings import Connection
from evergrid.pipeline.source_frames import kafka_options

_CHANGE = ("topic", "key", "value")
# Java refuses a delivery that has less time than its waiting and its request together.
_TIMES = frozenset(("kafka.linger.ms", "kafka.delivery.timeout.ms"))
_LIVE_LINGER_MS = "3"
_BATCH_LINGER_MS = "20"


class ChangelogSink:
    """Writes changes to the topics they name."""

    def __init__(self, connection: Connection, largest_change: int) -> None:
        self._options = {
            **kafka_options(connection),
            "kafka.max.request.size": str(largest_change),
            "kafka.buffer.memory": str(max(33_554_432, 4 * largest_change)),
        }

    def live(
        self, changes: DataFrame, name: str, checkpoint: Path, batch_seconds: int
    ) -> StreamingQuery:
        """Start a query in real-time mode: each change is written when its message arrives."""
        writer = self._writer(changes, name, checkpoint, _LIVE_LINGER_MS, "65536")
        return _in_real_time(writer, batch_seconds).start()

    def catch_up(self, changes: DataFrame, name: str, checkpoint: Path) -> StreamingQuery:
        """Start a query in micro-batches up to the present end of the topics, where it ends."""
        writer = self._writer(changes, name, checkpoint, _BATCH_LINGER_MS, "262144")
        return writer.trigger(availableNow=True).start()

    def _writer(
        self, changes: DataFrame, name: str, checkpoint: Path, linger_ms: str, batch_bytes: str
    ) -> DataStreamWriter:
        """Waits a few milliseconds for fuller requests, which cost client and broker less."""
        writer = (
            changes.select(*_CHANGE)
            .writeStream.queryName(name)
            .format("kafka")
            .options(**{"kafka.batch.size": batch_bytes, **self._options})
            .option("checkpointLocation", str(checkpoint))
            .outputMode("update")
        )
        if _TIMES & self._options.keys():
            return writer
        return writer.option("kafka.linger.ms", linger_ms)


def _in_real_time(writer: DataStreamWriter, batch_seconds: int) -> DataStreamWriter:
    # PySpark's type hints do not know this trigger yet.
    return writer.trigger(realTime=f"{batch_seconds} seconds")  # type: ignore[call-overload,no-any-return]
