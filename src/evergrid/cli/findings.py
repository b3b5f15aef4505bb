"""What `evergrid check` looks at: one finding each, with the remedy when it is not well."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from evergrid.changelog.names import changelog_spec, manifest_spec, system_topic, table_topic
from evergrid.cli.surroundings import check_disk, check_memory
from evergrid.config.settings import Connection, MissingTopics, Settings
from evergrid.kafka import jars, topics
from evergrid.kafka.identity import where
from evergrid.kafka.java import java_command
from evergrid.kafka.probe import reach, rehearse
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import ConfigError, EvergridError
from evergrid.model.source import Source


class Finding(msgspec.Struct, frozen=True):
    """Whether one thing is well, in a sentence."""

    well: bool
    text: str


def findings(settings: Settings) -> Iterator[Finding]:
    """Everything a pipeline needs, checked one after the other; nothing is made or changed."""
    yield _finding(lambda: f"Java: {java_command()}")
    yield _jars()
    yield _finding(lambda: _writable(settings.data_dir))
    yield _finding(lambda: _disk(settings.data_dir))
    yield _finding(lambda: _memory(settings))
    for names, connection in _distinct(settings):
        yield from _kafka(settings, names, connection)


def _finding(look: Callable[[], str]) -> Finding:
    try:
        return Finding(True, look())
    except EvergridError as error:
        return Finding(False, error.sentence())


def _jars() -> Finding:
    """Looks only at names: files get theirs when they were verified, all of them at once."""
    cache = jars.cache_dir()
    wanted = jars.read_lock(jars.LOCK_FILE.read_text())
    for folder in sorted(cache.glob("jars-*")):
        if all((folder / name).is_file() for name in wanted):
            return Finding(True, f"Java libraries: in {folder}")
    return Finding(True, f"Java libraries: the first start will fetch 50 MB of them to {cache}")


def _writable(directory: Path) -> str:
    place = _nearest(directory)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        kind = "is not a directory" if not place.is_dir() else "cannot be written to"
        raise ConfigError(
            f"{place} {kind}",
            where=f"data_dir {directory}",
            remedy="Set data_dir to a directory of yours.",
        )
    return f"data_dir {directory}: " + (
        "can be written to" if place == directory else "can be made"
    )


def _disk(directory: Path) -> str:
    check_disk(_nearest(directory))
    return f"Disk: enough space for {directory}"


def _memory(settings: Settings) -> str:
    check_memory(settings)
    return f"Memory: enough for spark.driver_memory {settings.spark.driver_memory}"


def _nearest(path: Path) -> Path:
    """The path itself, or the part of it that exists."""
    return next((part for part in (path, *path.parents) if part.exists()), Path(path.anchor))


def _distinct(settings: Settings) -> list[tuple[list[str], Connection]]:
    """Connections that differ in more than their name, with the names they have."""
    found: list[tuple[list[str], Connection]] = []
    for connection in settings.kafka.connections:
        for names, known in found:
            if msgspec.structs.replace(connection, name=known.name) == known:
                names.append(connection.name)
                break
        else:
            found.append(([connection.name], connection))
    return found


def _kafka(settings: Settings, names: list[str], connection: Connection) -> Iterator[Finding]:
    reached = _finding(lambda: _reach(names, connection))
    yield reached
    if not reached.well:
        return
    kafka = settings.kafka
    if kafka.source.name in names:
        for source in settings.sources.values():
            yield _finding(lambda source=source: _topic(settings, source))  # type: ignore[misc]
    if kafka.internal.name in names:
        yield _finding(lambda: _own_topics(settings))


def _reach(names: list[str], connection: Connection) -> str:
    found = reach(connection)
    brokers = "1 broker" if found.brokers == 1 else f"{found.brokers} brokers"
    return f"Kafka for {', '.join(names)} at {connection.bootstrap}: {brokers} answered"


def _topic(settings: Settings, source: Source) -> str:
    connection = settings.kafka.source
    info = topics.describe(connection, [source.topic]).get(source.topic)
    if info is not None:
        parts = "1 partition" if info.partitions == 1 else f"{info.partitions} partitions"
        return f"Source {source.name}: topic {source.topic} has {parts}"
    if settings.missing_topics is MissingTopics.WAIT:
        return f"Source {source.name}: topic {source.topic} does not exist; it is waited for"
    raise ConfigError(
        f"topic {source.topic} of source {source.name} does not exist",
        where=where(connection),
        remedy=f"Create it, correct sources.{source.name}.topic, or set missing_topics: wait.",
    )


def _own_topics(settings: Settings) -> str:
    connection, own = settings.kafka.internal, settings.internal_topics
    specs = _own_specs(settings)
    there = topics.describe(connection, [spec.name for spec in specs])
    new = [spec for spec in specs if spec.name not in there]
    if new:
        rehearse(connection, new)
    state = "are there" if not new else "can be made" if not there else "are there or can be made"
    return f"Evergrid's own topics {own.prefix}.*: {state}"


def _own_specs(settings: Settings) -> list[NewTopicSpec]:
    """As a first generation would make them; a running one has others, made the same way."""
    own, limits = settings.internal_topics, settings.limits
    quarantine = settings.quarantine()
    name = system_topic(own.prefix, quarantine.name)
    return [
        manifest_spec(own),
        changelog_spec(name, own, quarantine.retention, limits),
        *(
            changelog_spec(table_topic(own.prefix, 1, table.name), own, table.retention, limits)
            for table in (*settings.raw_tables(), *settings.joined_tables())
        ),
    ]
