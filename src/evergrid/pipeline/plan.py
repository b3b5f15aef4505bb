"""What Spark runs for one generation: its queries, where they read and where they write."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession

from evergrid.changelog.names import largest_change, system_topic
from evergrid.config.settings import Settings
from evergrid.model.generation import Generation
from evergrid.model.join import Join, Side
from evergrid.model.source import Source
from evergrid.pipeline.ingest import ingest_changes
from evergrid.pipeline.joins import keyed
from evergrid.pipeline.rows import read_rows
from evergrid.pipeline.sink import ChangelogSink
from evergrid.pipeline.sources import Offsets, message_history, message_stream

INGEST = "ingest"


class Plan(msgspec.Struct, frozen=True):
    """One generation on one session."""

    spark: SparkSession
    settings: Settings
    generation: Generation

    @property
    def sink(self) -> ChangelogSink:
        return ChangelogSink(self.settings.kafka.internal, largest_change(self.settings.limits))

    @property
    def folder(self) -> Path:
        return generation_folder(self.settings, self.generation.number)

    def checkpoint(self, query: str) -> Path:
        return self.folder / query

    def queries(self) -> tuple[str, ...]:
        return (INGEST, *map(join_query, self.generation.joins.values()))

    def live_ingest(self) -> DataFrame:
        """All sources in one stream of changes."""
        streams = [
            self._ingest(source, self._stream(source, self.generation.topics[name].live))
            for name, source in self.generation.sources.items()
        ]
        return reduce(DataFrame.unionByName, streams)

    def ingest_history(self, source: Source) -> DataFrame:
        topic = self.generation.topics[source.name]
        return self._ingest(source, self._history(source, topic.live))

    def live_join(self, join: Join, rows_per_batch: int | None = None) -> DataFrame:
        left, right = (
            self._side(
                join,
                side,
                self._stream(source, self.generation.topics[source.name].start, rows_per_batch),
            )
            for side, source in self._sides(join)
        )
        return self._changes(join, keyed.live_pairs(left, right, join))

    def join_history(self, join: Join, ends: Mapping[str, Offsets]) -> DataFrame:
        left, right = (
            self._side(join, side, self._history(source, ends[source.name]))
            for side, source in self._sides(join)
        )
        return self._changes(join, keyed.history_pairs(left, right, join))

    def sources_of(self, join: Join) -> tuple[Source, Source]:
        return self.generation.sources[join.left], self.generation.sources[join.right]

    def _sides(self, join: Join) -> tuple[tuple[Side, Source], ...]:
        left, right = self.sources_of(join)
        return (Side.LEFT, left), (Side.RIGHT, right)

    def _stream(
        self, source: Source, start: Offsets, rows_per_batch: int | None = None
    ) -> DataFrame:
        return message_stream(
            self.spark, self.settings.kafka.source, source.topic, start, rows_per_batch
        )

    def _history(self, source: Source, end: Offsets) -> DataFrame:
        start = self.generation.topics[source.name].start
        return message_history(self.spark, self.settings.kafka.source, source.topic, start, end)

    def _ingest(self, source: Source, messages: DataFrame) -> DataFrame:
        prefix = self.settings.internal_topics.prefix
        return ingest_changes(
            read_rows(messages, source, self.settings.limits),
            source,
            self.generation.tables[source.table].topic,
            system_topic(prefix, self.settings.system_tables.quarantine),
            self.settings.limits,
        )

    def _side(self, join: Join, side: Side, messages: DataFrame) -> DataFrame:
        source = self.generation.sources[join.source_of(side)]
        return keyed.side_messages(read_rows(messages, source, self.settings.limits), join, side)

    def _changes(self, join: Join, pairs: DataFrame) -> DataFrame:
        topic = self.generation.tables[join.table].topic
        return keyed.pair_changes(pairs, join, self.generation.sources, topic)


def join_query(join: Join) -> str:
    """The name of a join's query, and of its checkpoint's folder."""
    return f"join-{join.name}"


def generation_folder(settings: Settings, number: int) -> Path:
    return settings.data_dir / "generations" / f"g{number}"


def slots_needed(generation: Generation, shuffle_partitions: int) -> int:
    """Tasks that real-time mode keeps running at once, for as long as the queries run."""
    partitions = {name: len(topic.start) for name, topic in generation.topics.items()}
    joins = sum(
        partitions[join.left] + partitions[join.right] + shuffle_partitions
        for join in generation.joins.values()
    )
    return sum(partitions.values()) + joins
