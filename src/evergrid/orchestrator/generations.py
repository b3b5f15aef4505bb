"""Make a generation: its topics, the stretch of its sources, and its place in the manifest."""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from evergrid.changelog.names import changelog_spec, manifest_spec, system_topic, table_topic
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.topics import TopicInfo
from evergrid.model.generation import Generation, SourceTopic, State, TableTopic, Times
from evergrid.model.source import Edge, Source
from evergrid.model.table import Table


def now() -> int:
    """Microseconds since the epoch, as the manifest has all times."""
    return time.time_ns() // 1000


def make_system_topics(settings: Settings) -> dict[str, TableTopic]:
    """The manifest's topic and those of tables that belong to no generation."""
    connection, own = settings.kafka.internal, settings.internal_topics
    table = settings.quarantine()
    name = system_topic(own.prefix, table.name)
    spec = changelog_spec(name, own, table.retention, settings.limits)
    topics.create(connection, [manifest_spec(own), spec])
    return {table.name: TableTopic(table, name, own.partitions)}


def begin(settings: Settings, number: int, found: Mapping[str, TopicInfo]) -> Generation:
    """A generation that reads the sources as they are now, with empty changelogs."""
    own = settings.internal_topics
    tables = (*settings.raw_tables(), *settings.joined_tables())
    placed = {table.name: _placed(settings, number, table) for table in tables}
    topics.delete(settings.kafka.internal, [table.topic for table in placed.values()])
    topics.create(
        settings.kafka.internal,
        [
            changelog_spec(table.topic, own, table.table.retention, settings.limits)
            for table in placed.values()
        ],
    )
    return Generation(
        number=number,
        state=State.PREPARING,
        sources=settings.sources,
        joins=settings.joins,
        topics={
            name: _stretch(settings, source, found[source.topic])
            for name, source in settings.sources.items()
        },
        tables=placed,
        times=Times(created=now()),
    )


def ready(settings: Settings, generation: Generation) -> Generation:
    """The generation with the ends of its changelogs: who has read up to there has it all."""
    connection = settings.kafka.internal
    tables = {
        name: msgspec.structs.replace(
            table, ready_offsets=topics.offsets(connection, table.topic, Edge.LATEST)
        )
        for name, table in generation.tables.items()
    }
    return msgspec.structs.replace(
        generation,
        state=State.READY,
        tables=tables,
        progress=None,
        times=msgspec.structs.replace(generation.times, ready=now()),
    )


def current(generation: Generation) -> Generation:
    return msgspec.structs.replace(
        generation,
        state=State.CURRENT,
        times=msgspec.structs.replace(generation.times, current=now()),
    )


def ended(generation: Generation, state: State, error: str = "") -> Generation:
    return msgspec.structs.replace(
        generation,
        state=state,
        error=error,
        progress=None,
        times=msgspec.structs.replace(generation.times, ended=now()),
    )


def _placed(settings: Settings, number: int, table: Table) -> TableTopic:
    own = settings.internal_topics
    return TableTopic(table, table_topic(own.prefix, number, table.name), own.partitions)


def _stretch(settings: Settings, source: Source, info: TopicInfo) -> SourceTopic:
    connection = settings.kafka.source
    return SourceTopic(
        topic_id=info.topic_id,
        start=topics.offsets(connection, source.topic, source.start),
        live=topics.offsets(connection, source.topic, Edge.LATEST),
    )
