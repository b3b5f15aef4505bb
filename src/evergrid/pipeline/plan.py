"""The Spark queries of one generation: what they read and where they write.

A source's raw table has a query of its own, and so has each join. A raw table is made once: later
generations with the same source share it, its changelog and its query.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from evergrid.changelog.internal_topics import (
    largest_change,
    reports_topic,
    system_topic,
    ticks_topic,
)
from evergrid.config.settings import Settings
from evergrid.model.generation import Generation
from evergrid.model.join import Join
from evergrid.model.source import Source
from evergrid.pipeline.engine.join_changes import Joining
from evergrid.pipeline.engine.raw_changes import raw_changes
from evergrid.pipeline.kafka_frames import (
    Offsets,
    message_history,
    message_stream,
    start_writing,
    tick_stream,
)

_RAW, _JOIN = "raw-", "join-"
# So much fits into one batch of any machine that Spark runs on; and a row that several batches
# change is written by each of them.
_MESSAGES_PER_BATCH = 4_000_000
_MICROSECONDS = 1_000_000


class QueryId(msgspec.Struct, frozen=True):
    """A query and the generation that created it; names its checkpoint and consumer groups."""

    generation: int
    name: str

    def __str__(self) -> str:
        return f"g{self.generation}.{self.name}"

    @property
    def is_join(self) -> bool:
        return self.name.startswith(_JOIN)


class Plan(msgspec.Struct, frozen=True):
    """One generation on one session."""

    spark: SparkSession
    settings: Settings
    generation: Generation

    def checkpoint(self, query: QueryId) -> Path:
        return checkpoint_folder(self.settings, query)

    def table_of(self, query: QueryId) -> str:
        """The table that a query writes."""
        join = self._join(query)
        return join.table if join else self._source(query).table

    def starts_of(self, query: QueryId) -> Mapping[str, Offsets]:
        """The start offsets of a query without a checkpoint, by topic, in the order of reading."""
        join = self._join(query)
        names = (join.left, join.right) if join else (self._source(query).name,)
        sources, topics = self.generation.sources, self.generation.topics
        return {sources[name].topic: topics[name].start for name in names}

    def topics_of(self, query: QueryId) -> tuple[str, ...]:
        """The topics of a query, of a join the left one first."""
        return tuple(self.starts_of(query))

    def reducers_of(self, query: QueryId) -> int:
        """The number of tasks on which a join runs. Spark takes it from the checkpoint, whatever is
        configured now, because the state is divided among them."""
        offsets = self.checkpoint(query) / "offsets"
        last = max(batches(offsets), default=0)
        try:
            conf = json.loads((offsets / str(last)).read_text().splitlines()[1])["conf"]
            return int(conf["spark.sql.shuffle.partitions"])
        except (OSError, ValueError, KeyError, IndexError, TypeError):
            # A damaged one is told when its positions are read.
            return self.settings.spark.shuffle_partitions

    def start(
        self, query: QueryId, starts: Mapping[str, Offsets], group: str, *, live: bool
    ) -> StreamingQuery:
        """Start a query on its checkpoint, or at `starts` if that is empty, in real-time mode or in
        micro-batches that end when all present messages have been read."""
        discard_uncommitted_state(self.checkpoint(query))
        rows = None if live else _MESSAGES_PER_BATCH
        messages = message_stream(self.spark, self.settings.kafka.source, starts, group, rows)
        join = self._join(query)
        if join is not None:
            changes = self._joined(query, join, messages, group, live)
        else:
            source = self._source(query)
            changes = self._raw_changes(source, messages)
            if not live:
                changes = self._young_enough(source, changes)
        return start_writing(
            changes,
            self.settings.kafka.internal,
            str(query),
            self.checkpoint(query),
            largest_change=largest_change(self.settings.limits),
            batch_seconds=self.settings.spark.batch_seconds if live else None,
        )

    def history(self, source: Source, end: Offsets) -> DataFrame:
        """The changes of a source's messages from its start up to `end`, as one batch."""
        return self._raw_changes(source, self._past(source.name, end))

    def pairs(self, join: Join, left_end: Offsets, right_end: Offsets) -> DataFrame:
        """How many rows an inner join makes of its messages up to these ends, for each key."""
        messages = self._past(join.left, left_end).union(self._past(join.right, right_end))
        return self._joining("", join, self.settings.spark.shuffle_partitions, False).pairs(
            messages
        )

    def _past(self, source: str, end: Offsets) -> DataFrame:
        topic, start = self.generation.sources[source].topic, self.generation.topics[source].start
        return message_history(self.spark, self.settings.kafka.source, topic, start, end)

    def _raw_changes(self, source: Source, messages: DataFrame) -> DataFrame:
        prefix = self.settings.internal_topics.prefix
        return raw_changes(
            messages,
            source,
            self.generation.tables[source.table].topic,
            system_topic(prefix, self.settings.system_tables.quarantine),
            self.settings.limits,
        )

    def _young_enough(self, source: Source, changes: DataFrame) -> DataFrame:
        """Leave out rows that are beyond their table's retention."""
        table = self.generation.tables[source.table]
        ages = table.table.retention.age_seconds, self.settings.quarantine().retention.age_seconds
        now = int(time.time())
        oldest = [None if age is None else (now - age) * _MICROSECONDS for age in ages]
        raw, bad = (F.lit(edge).cast("bigint") for edge in oldest)
        edge = F.when(F.col("topic") == table.topic, raw).otherwise(bad)
        return changes.where(edge.isNull() | (F.col("ts") >= edge))

    def _joined(
        self, query: QueryId, join: Join, messages: DataFrame, group: str, live: bool
    ) -> DataFrame:
        settings = self.settings
        prefix = settings.internal_topics.prefix
        ticks = tick_stream(self.spark, settings.kafka.internal, ticks_topic(prefix), group)
        target = self.generation.tables[join.table].topic
        joining = self._joining(str(query), join, self.reducers_of(query), live)
        return joining.changes(messages, ticks, target, reports_topic(prefix))

    def _joining(self, query: str, join: Join, reducers: int, live: bool) -> Joining:
        return Joining(
            query=query,
            join=join,
            sources=self.generation.sources,
            retention=self.generation.tables[join.table].table.retention,
            limits=self.settings.limits,
            reducers=reducers,
            live=live,
        )

    def _join(self, query: QueryId) -> Join | None:
        name = query.name.removeprefix(_JOIN)
        return self.generation.joins[name] if query.is_join else None

    def _source(self, query: QueryId) -> Source:
        return self.generation.sources[query.name.removeprefix(_RAW)]


def queries_of(generation: Generation) -> tuple[QueryId, ...]:
    """The queries of a generation, including those that it shares with others.

    Joins are first, because they take longest to catch up.
    """
    joins = (QueryId(generation.number, f"{_JOIN}{name}") for name in generation.joins)
    raws = (
        QueryId(topic.raw or generation.number, f"{_RAW}{name}")
        for name, topic in generation.topics.items()
    )
    return (*joins, *raws)


def generations_folder(settings: Settings) -> Path:
    return settings.data_dir / "generations"


def checkpoint_folder(settings: Settings, query: QueryId) -> Path:
    return generations_folder(settings) / f"g{query.generation}" / query.name


def discard_uncommitted_state(checkpoint: Path) -> None:
    """Remove what an interrupted first batch left of a state.

    In real-time mode Spark records a batch when it ends, and refuses to begin a first one where it
    finds state. The query begins at its start offsets again, so nothing is lost.
    """
    if not batches(checkpoint / "offsets") and not batches(checkpoint / "commits"):
        shutil.rmtree(checkpoint / "state", ignore_errors=True)


def batches(folder: Path) -> list[int]:
    """The batches in a checkpoint's `offsets` or `commits` directory."""
    if not folder.is_dir():
        return []
    return [int(file.name) for file in folder.iterdir() if file.name.isdecimal()]


def slots_needed(
    joins: Mapping[str, Join], partitions: Mapping[str, int], shuffle_partitions: int
) -> int:
    """Tasks that real-time mode keeps running at once, for as long as the queries run.

    `partitions` are those of each source. A join also reads the one partition of the ticks.
    """
    joined = sum(
        partitions[join.left] + partitions[join.right] + shuffle_partitions + 1
        for join in joins.values()
    )
    return sum(partitions.values()) + joined
