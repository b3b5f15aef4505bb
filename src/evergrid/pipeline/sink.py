"""Changes out of Spark: to the changelogs as they come, in one go, or nowhere at all."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from evergrid.config.settings import Connection
from evergrid.pipeline.sources import kafka_options

_CHANGE = ("topic", "key", "value")
# Java refuses a delivery that has less time than its waiting and its request together.
_TIMES = frozenset(("kafka.linger.ms", "kafka.delivery.timeout.ms"))


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
        """A real-time-mode query: each change is written when its cause arrives."""
        writer = (
            changes.select(*_CHANGE)
            .writeStream.queryName(name)
            .format("kafka")
            .options(**self._options)
            .option("checkpointLocation", str(checkpoint))
            .outputMode("update")
        )
        return _in_real_time(writer, batch_seconds).start()

    def at_once(self, changes: DataFrame) -> None:
        """One batch job; returns when the last change is written."""
        writer = changes.select(*_CHANGE).write.format("kafka").options(**self._options)
        # History is written for throughput: fuller requests instead of earlier ones.
        writer = writer.option("kafka.batch.size", "262144")
        if not _TIMES & self._options.keys():
            writer = writer.option("kafka.linger.ms", "20")
        writer.save()


def _in_real_time(writer: DataStreamWriter, batch_seconds: int) -> DataStreamWriter:
    # PySpark's type hints do not know this trigger yet.
    return writer.trigger(realTime=f"{batch_seconds} seconds")  # type: ignore[call-overload,no-any-return]


def catch_up(changes: DataFrame, name: str, checkpoint: Path) -> StreamingQuery:
    """Brings a checkpoint's state up to now in micro-batches; its output is not used.

    In a micro-batch one output stands for many messages, so it would lack rows.
    """
    return (
        changes.select(*_CHANGE)
        .writeStream.queryName(name)
        .format("noop")
        .option("checkpointLocation", str(checkpoint))
        .outputMode("update")
        .trigger(availableNow=True)
        .start()
    )
