"""Writes changes from Spark to the changelogs, one by one or in micro-batches."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from evergrid.config.settings import Connection
from evergrid.pipeline.source_frames import kafka_options

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

    def start(
        self, changes: DataFrame, name: str, checkpoint: Path, batch_seconds: int | None
    ) -> StreamingQuery:
        """Start a query in real-time mode, with batches of so long: each change is written when its
        message arrives. Without `batch_seconds` in micro-batches up to the present end of the
        topics, where it ends.
        """
        live = batch_seconds is not None
        options = {"kafka.batch.size": "65536" if live else "262144", **self._options}
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
