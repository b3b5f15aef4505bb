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
from evergrid.pipeline.sources import GROUP, Offsets, message_history, message_stream

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

    def query_name(self, query: str) -> str:
        """What Spark calls it: no two that run may have the same name."""
        return f"g{self.generation.number}.{query}"

    def sources_read_by(self, query: str) -> tuple[Source, ...]:
        """In the order in which the query reads them."""
        for join in self.generation.joins.values():
            if join_query(join) == query:
                return self.sources_of(join)
        return tuple(self.generation.sources.values())

    def starts_of(self, query: str) -> Mapping[str, Offsets]:
        """Where a query without a checkpoint begins, by source."""
        topics = self.generation.topics
        return {
            source.name: topics[source.name].live if query == INGEST else topics[source.name].start
            for source in self.sources_read_by(query)
        }

    def live(self, query: str, group: str) -> DataFrame:
        """The changes of a query as they come; consumer groups have names that begin so."""
        for join in self.generation.joins.values():
            if join_query(join) == query:
                return self._join_stream(join, group)
        return self._live_ingest(group)

    def _live_ingest(self, group: str) -> DataFrame:
        """All sources in one stream of changes."""
        streams = [
            self._ingest(source, self._stream(source, self.generation.topics[name].live, group))
            for name, source in self.generation.sources.items()
        ]
        return reduce(DataFrame.unionByName, streams)

    def ingest_history(self, source: Source) -> DataFrame:
        topic = self.generation.topics[source.name]
        return self._ingest(source, self._history(source, topic.live))

    def catching_up(self, join: Join, rows_per_batch: int) -> DataFrame:
        """The live join as micro-batches read it, so many messages of a source at a time."""
        return self._join_stream(join, GROUP, rows_per_batch)

    def _join_stream(self, join: Join, group: str, rows_per_batch: int | None = None) -> DataFrame:
        topics = self.generation.topics
        left, right = (
            self._side(
                join,
                side,
                self._stream(source, topics[source.name].start, group, rows_per_batch),
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
        self, source: Source, start: Offsets, group: str, rows_per_batch: int | None = None
    ) -> DataFrame:
        return message_stream(
            self.spark, self.settings.kafka.source, source.topic, start, group, rows_per_batch
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


def generation_folders(settings: Settings) -> dict[int, Path]:
    """Those that exist, by the generation's number."""
    found = (settings.data_dir / "generations").glob("g[0-9]*")
    return {int(folder.name[1:]): folder for folder in found if folder.name[1:].isdecimal()}


def slots_needed(
    joins: Mapping[str, Join], partitions: Mapping[str, int], shuffle_partitions: int
) -> int:
    """Tasks that real-time mode keeps running at once, for as long as the queries run.

    `partitions` are those of each source.
    """
    joined = sum(
        partitions[join.left] + partitions[join.right] + shuffle_partitions
        for join in joins.values()
    )
    return sum(partitions.values()) + joined
