"""Creates generations: their topics, start offsets and manifest records."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import msgspec

from evergrid.changelog.internal_topics import (
    changelog_spec,
    generation_of,
    manifest_spec,
    signal_specs,
    system_topic,
    table_topic,
)
from evergrid.changelog.manifest import Manifest
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.topics import TopicInfo, TopicWatch
from evergrid.model.generation import ENGINE, Generation, SourceTopic, State, TableTopic, Times
from evergrid.model.join import Join, JoinType
from evergrid.model.source import Source, TopicEnd
from evergrid.model.table import Table
from evergrid.orchestrator.generation_rules import (
    may_be_needed,
    needed_queries,
    needed_topics,
    shared_with,
)
from evergrid.pipeline.checkpoint import belongs, claim, remove
from evergrid.pipeline.plan import checkpoint_folder, queries_of


def now() -> int:
    """The time in microseconds since the epoch, as in the manifest."""
    return time.time_ns() // 1000


def make_system_topics(settings: Settings) -> dict[str, TableTopic]:
    """Create the manifest's topic and those of tables without generations."""
    connection, own = settings.kafka.internal, settings.internal_topics
    placed = {
        table.name: TableTopic(table, system_topic(own.prefix, table.name), own.partitions)
        for table in settings.system()
    }
    specs = [
        changelog_spec(target.topic, own, target.table.retention, settings.limits)
        for target in placed.values()
    ]
    topics.create(connection, [manifest_spec(own), *signal_specs(own), *specs])
    return placed


def begin(
    settings: Settings,
    number: int,
    found: Mapping[str, TopicInfo],
    cause: str,
    others: Iterable[Generation],
) -> Generation:
    """Begin a generation that reads the present sources, with empty checkpoints and changelogs.

    Raw tables of the same source are shared with `others`.
    """
    created = now()
    known = [one for one in others if has_checkpoints(settings, one, joins=False)]
    shared = {
        name: one
        for name, source in settings.sources.items()
        if (one := shared_with(settings, source, found[source.topic].topic_id, known))
    }
    read = {
        name: _shared_from(settings, source, shared[name].topics[name])
        if name in shared
        else _read_from(settings, source, found[source.topic], number, created)
        for name, source in settings.sources.items()
    }
    tables = {
        table.name: _placed(settings, number, table) for table in settings.generation_tables()
    }
    for name, one in shared.items():
        table = settings.sources[name].table
        tables[table] = msgspec.structs.replace(one.tables[table], ready_offsets={})
    generation = Generation(
        number=number,
        state=State.PREPARING,
        sources=settings.sources,
        joins=settings.joins,
        topics=read,
        tables=tables,
        times=Times(created=created),
        cause=cause,
        engine=ENGINE,
    )
    _make(settings, generation, [settings.sources[name].table for name in shared])
    return generation


def has_checkpoints(settings: Settings, generation: Generation, *, joins: bool = True) -> bool:
    """Whether the queries of its tables have their checkpoints; without `joins`, of raw tables."""
    return all(
        (checkpoint_folder(settings, query) / "metadata").exists()
        and belongs(settings, generation, query)
        for query in queries_of(generation)
        if joins or not query.is_join
    )


def _make(settings: Settings, generation: Generation, shared: Iterable[str]) -> None:
    """Its changelogs and checkpoints, empty, but for the tables that it shares."""
    own = settings.internal_topics
    placed = [table for name, table in generation.tables.items() if name not in set(shared)]
    topics.delete(settings.kafka.internal, [table.topic for table in placed])
    specs = [
        changelog_spec(table.topic, own, table.table.retention, settings.limits) for table in placed
    ]
    topics.create(settings.kafka.internal, specs)
    for query in queries_of(generation):
        if query.generation == generation.number:
            claim(settings, generation, query)


def begin_again(generation: Generation, cause: str) -> Generation:
    """Begin a replaced generation again."""
    return msgspec.structs.replace(generation, state=State.PREPARING, error="", cause=cause)


def ready(settings: Settings, generation: Generation) -> Generation:
    """The generation as ready, with the ends of its changelogs."""
    connection = settings.kafka.internal
    tables = {
        name: msgspec.structs.replace(
            table, ready_offsets=topics.offsets(connection, table.topic, TopicEnd.LATEST)
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
    """The record of a generation that could not begin."""
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


def clear(settings: Settings, generation: Generation, manifest: Manifest) -> None:
    """Remove its checkpoints and topics, but for those that others need. In this order, so that
    nobody goes back to one without its topics, should the broker go away in between."""
    needed = needed_queries(manifest, without=generation.number)
    for query in queries_of(generation):
        if query not in needed and not may_be_needed(manifest, query.generation):
            remove(settings, query)
    own = {table.topic for table in generation.tables.values()}
    spare = own - needed_topics(manifest, without=generation.number)
    prefix = settings.internal_topics.prefix
    topics.delete(
        settings.kafka.internal,
        [topic for topic in spare if not may_be_needed(manifest, generation_of(prefix, topic))],
    )


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


def _shared_from(settings: Settings, source: Source, known: SourceTopic) -> SourceTopic:
    """Where joins of a source begin whose raw table is older: Kafka may have dropped messages since
    then, and the topic may have more partitions; Spark refuses to begin where there is nothing."""
    first = topics.offsets(settings.kafka.source, source.topic, TopicEnd.EARLIEST)
    start = {place: max(known.start.get(place, 0), at) for place, at in first.items()}
    return msgspec.structs.replace(known, start=start)


def _read_from(
    settings: Settings, source: Source, info: TopicInfo, number: int, created: int
) -> SourceTopic:
    start = topics.offsets(settings.kafka.source, source.topic, source.start)
    return SourceTopic(topic_id=info.topic_id, start=start, raw=number, made=created)
