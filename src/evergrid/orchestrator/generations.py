"""Make a generation: its topics, the stretch of its sources, and its place in the manifest."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping

import msgspec

from evergrid.changelog.names import changelog_spec, manifest_spec, system_topic, table_topic
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.topics import TopicInfo, TopicWatch
from evergrid.model.generation import Generation, SourceTopic, State, TableTopic, Times
from evergrid.model.join import Join, JoinType
from evergrid.model.source import Edge, Source
from evergrid.model.table import Table
from evergrid.pipeline.plan import generation_folder


def now() -> int:
    """Microseconds since the epoch, as the manifest has all times."""
    return time.time_ns() // 1000


def make_system_topics(settings: Settings) -> dict[str, TableTopic]:
    """The manifest's topic and those of tables that belong to no generation."""
    connection, own = settings.kafka.internal, settings.internal_topics
    placed = {
        table.name: TableTopic(table, system_topic(own.prefix, table.name), own.partitions)
        for table in settings.system()
    }
    specs = [
        changelog_spec(target.topic, own, target.table.retention, settings.limits)
        for target in placed.values()
    ]
    topics.create(connection, [manifest_spec(own), *specs])
    return placed


def begin(
    settings: Settings, number: int, found: Mapping[str, TopicInfo], cause: str
) -> Generation:
    """A generation that reads the sources as they are now, with empty changelogs."""
    own = settings.internal_topics
    tables = settings.generation_tables()
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
        cause=cause,
    )


def begin_again(generation: Generation, cause: str) -> Generation:
    """One that was replaced, on its way back."""
    return msgspec.structs.replace(generation, state=State.PREPARING, error="", cause=cause)


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


def refused(settings: Settings, number: int, error: str, cause: str) -> Generation:
    """One that could not even begin, for the record."""
    at = now()
    return Generation(
        number=number,
        state=State.FAILED,
        sources=settings.sources,
        joins=settings.joins,
        topics={},
        tables={},
        times=Times(created=at, ended=at),
        error=error,
        cause=cause,
    )


def ended(generation: Generation, state: State, error: str = "") -> Generation:
    return msgspec.structs.replace(
        generation,
        state=state,
        error=error,
        progress=None,
        times=msgspec.structs.replace(generation.times, ended=now()),
    )


def clear(settings: Settings, generation: Generation) -> None:
    """Take away its checkpoints and topics: in this order, so that nobody goes back to one without
    its topics, should the broker go away in between."""
    shutil.rmtree(generation_folder(settings, generation.number), ignore_errors=True)
    topics.delete(settings.kafka.internal, [table.topic for table in generation.tables.values()])


def rows_made(own: TopicWatch, generation: Generation) -> int:
    """How many rows its joined tables have got; of all its tables where nothing is joined.

    Taken from the ends of changelogs, so what a crash made Spark write again counts again.
    A left or as-of join has a row for each message of its driving side, however often it was
    corrected; all changes of an inner join are new rows.
    """
    counted = [_counted(generation, join) for join in generation.joins.values()]
    if not counted:
        counted = [(name, name) for name in generation.tables]
    ends = own.ends(generation.tables[counting].topic for _, counting in counted)
    total = 0
    for shown, counting in counted:
        topic = generation.tables[counting].topic
        made = sum(end for (name, _), end in ends.items() if name == topic)
        most = generation.tables[shown].table.retention.rows
        total += made if most is None else min(made, most)
    return total


def _counted(generation: Generation, join: Join) -> tuple[str, str]:
    """A joined table, and the one whose changes are its rows."""
    if join.type is JoinType.INNER:
        return join.table, join.table
    return join.table, generation.sources[join.source_of(join.driving)].table


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
