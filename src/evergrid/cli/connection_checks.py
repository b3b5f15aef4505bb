"""Checks of each Kafka connection, with the clients of the parts that use it.

The orchestrator and the gateway use the Python client, Spark the Java client. Both must connect,
each with its own names for the same settings. Each part is checked with what it does itself, so
that its own permissions are enough for the check.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

import msgspec

from evergrid.changelog.internal_topics import (
    changelog_spec,
    control_spec,
    manifest_spec,
    manifest_topic,
    system_topic,
    table_topic,
)
from evergrid.changelog.reader import TopicReader, load_manifest, read_to_end, read_up_to
from evergrid.changelog.writer import FencedWriter
from evergrid.cli.terminal import counted
from evergrid.config.settings import Connection, MissingTopics, Settings
from evergrid.kafka import topics
from evergrid.kafka.cluster_probe import reach
from evergrid.kafka.diagnosis import AccessError, Step, access_error, probe_connection
from evergrid.kafka.identity import identity, where
from evergrid.kafka.topics import NewTopicSpec, TopicInfo
from evergrid.model.errors import ConfigError, EvergridError, LinkError
from evergrid.model.source import Source, TopicEnd
from evergrid.pipeline.java_client import JavaClient

PYTHON, JAVA = "Python client", "Java client"
_TEST_TOPIC = "check"  # <prefix>.check is created, used and deleted
_TEST_MESSAGE = b"evergrid check"
_EARLIEST = -2  # this offset means "earliest" in Kafka's protocol


class Finding(msgspec.Struct, frozen=True):
    """The result of one check, with a sentence."""

    ok: bool
    text: str


def finding(check: Callable[[], str]) -> Finding:
    """The result of `check`, which returns a sentence or raises an EvergridError."""
    try:
        return Finding(True, check())
    except EvergridError as error:
        return Finding(False, error.sentence())


class ConnectionChecks:
    """Checks what the pipeline needs, which has all that a gateway needs, or a gateway alone.

    Without `java`, it checks with the Python client alone.
    """

    def __init__(
        self, settings: Settings, java: JavaClient | None, *, for_pipeline: bool = True
    ) -> None:
        self._settings = settings
        self._java = java
        self._for_pipeline = for_pipeline

    def findings(self) -> Iterator[Finding]:
        kafka = self._settings.kafka
        used = kafka.connections if self._for_pipeline else (kafka.control, kafka.internal)
        for names, connection in _distinct(used):
            yield from self._cluster(names, connection)

    def _cluster(self, names: list[str], connection: Connection) -> Iterator[Finding]:
        reached = finding(lambda: _reach_host(names, connection))
        yield reached
        if not reached.ok:
            return
        kafka = self._settings.kafka
        by_spark = bool({kafka.source.name, kafka.internal.name} & set(names))
        logins = [_log_in(PYTHON, connection, lambda: reach(connection).brokers)]
        yield logins[0]
        java = self._java if by_spark else None
        if java is not None:
            logins.append(_log_in(JAVA, connection, lambda: java.reach(connection)))
            yield logins[1]
        if not all(each.ok for each in logins):
            return
        if kafka.source.name in names and self._for_pipeline:
            for source in self._settings.sources.values():
                yield finding(lambda source=source: self._source(source))  # type: ignore[misc]
        if kafka.control.name in names:
            yield finding(self._control)
        if kafka.internal.name in names and self._for_pipeline:
            yield finding(self._own_topics)
            yield finding(self._test_topic)
        elif kafka.internal.name in names:
            yield finding(self._changelogs)

    def _source(self, source: Source) -> str:
        settings, connection = self._settings, self._settings.kafka.source
        info = topics.describe(connection, [source.topic]).get(source.topic)
        if info is None and settings.missing_topics is MissingTopics.WAIT:
            return f"Source {source.name}: topic {source.topic} does not exist; it is waited for"
        if info is None:
            raise ConfigError(
                f"topic {source.topic} of source {source.name} does not exist",
                where=where(connection),
                remedy=f"Create it, correct sources.{source.name}.topic, or set missing_topics: "
                "wait.",
            )
        topics.offsets(connection, source.topic, TopicEnd.LATEST)
        seen = f"Source {source.name}: topic {source.topic} {_seen(info)}"
        if self._java is None:
            return seen
        self._java.read(connection, source.topic)
        return f"{seen}, readable"

    def _control(self) -> str:
        """The pipeline reads the topic, or creates it if it is missing; a gateway only writes."""
        connection, name = self._settings.kafka.control, self._settings.control.topic
        info = topics.describe(connection, [name]).get(name)
        if info is None and not self._for_pipeline:
            return f"Control topic {name}: does not exist yet; the pipeline makes it"
        if info is None:
            topics.check_creatable(connection, [control_spec(name, self._settings.internal_topics)])
            return f"Control topic {name}: does not exist yet; it can be made"
        if not self._for_pipeline:
            return f"Control topic {name}: {_seen(info)}"
        _check_readable(connection, [name])
        return f"Control topic {name}: {_seen(info)}, readable"

    def _changelogs(self) -> str:
        """A gateway reads the manifest and the changelogs that the manifest names."""
        connection, prefix = self._settings.kafka.internal, self._settings.internal_topics.prefix
        name = manifest_topic(prefix)
        if name not in topics.describe(connection, [name]):
            return f"Evergrid's own topics {prefix}.*: none yet; the pipeline makes them"
        tables = load_manifest(connection, prefix).tables().values()
        there = topics.describe(connection, [name, *(table.topic for table in tables)])
        _check_readable(connection, there)
        return f"Evergrid's own topics {prefix}.*: {counted(len(there), 'topic')} seen, readable"

    def _own_topics(self) -> str:
        connection, own = self._settings.kafka.internal, self._settings.internal_topics
        specs = _own_specs(self._settings)
        there = topics.describe(connection, [spec.name for spec in specs])
        new = [spec for spec in specs if spec.name not in there]
        if new:
            topics.check_creatable(connection, new)
        states = [*(["are there"] if there else ()), *(["can be made"] if new else ())]
        return f"Evergrid's own topics {own.prefix}.*: {' or '.join(states)}"

    def _test_topic(self) -> str:
        """Create a topic, write to it, read it and delete it."""
        connection, own = self._settings.kafka.internal, self._settings.internal_topics
        name = system_topic(own.prefix, _TEST_TOPIC)
        topics.create(connection, [NewTopicSpec(name, 1, own.replication)])
        try:
            # As a pipeline writes its manifest; with this id it disturbs none that runs.
            FencedWriter(connection, name, lambda: None).write(name, (b"", _TEST_MESSAGE))
            if self._java is not None:
                self._java.write(connection, name, _TEST_MESSAGE)
            expected = 1 if self._java is None else 2
            if sum(len(batch) for batch in read_to_end(connection, name)) != expected:
                raise LinkError(f"topic {name} does not hold the messages written to it")
        finally:
            topics.delete(connection, [name])
        writers = f"the {PYTHON}" if self._java is None else "both clients"
        return f"Evergrid's own topics: {name} was made, written to by {writers}, read and deleted"


def _seen(info: TopicInfo) -> str:
    return f"seen ({counted(info.partitions, 'partition')})"


def _check_readable(connection: Connection, names: Iterable[str]) -> None:
    """LinkError unless each topic gives a message, or its end if it is empty."""
    starts = {name: {0: _EARLIEST} for name in names}
    with contextlib.closing(TopicReader(connection, starts)) as reader:
        for name in starts:
            # A topic that answered has a real offset in the place of `_EARLIEST`.
            for _ in read_up_to(reader, name, {0: 0}):
                pass


def _reach_host(names: list[str], connection: Connection) -> str:
    problem = probe_connection(connection)
    if problem is not None and problem.step is Step.HOST:
        raise access_error(connection, "connect", problem)
    return f"Kafka for {', '.join(names)} at {connection.bootstrap}: {Step.HOST.value}"


def _log_in(client: str, connection: Connection, count: Callable[[], int]) -> Finding:
    """Whether one client can connect, and how far it comes if it cannot."""
    who, order = identity(connection), list(Step)
    taken = {Step.TLS: who.protocol.endswith("SSL"), Step.LOGIN: bool(who.mechanism)}
    steps = [step for step, is_taken in taken.items() if is_taken]  # after the host was reached
    try:
        brokers = count()
    except AccessError as error:
        done = [step.value for step in steps if order.index(step) < order.index(error.step)]
        so_far = f"{', '.join(done)}, then failed. " if done else ""
        return Finding(False, f"{client}: {so_far}{error.sentence()}")
    except EvergridError as error:
        return Finding(False, f"{client}: {error.sentence()}")
    done = [step.value for step in steps]
    if who.principal:
        done[-1] += f" ({', '.join(filter(None, (who.mechanism, who.principal)))})"
    return Finding(True, f"{client}: {', '.join((*done, counted(brokers, 'broker')))} answered")


def _distinct(connections: Iterable[Connection]) -> list[tuple[list[str], Connection]]:
    """Connections that differ in more than their name, each with all its names."""
    found: list[tuple[list[str], Connection]] = []
    for connection in connections:
        same = (names for names, known in found if connection.called(known.name) == known)
        if (names := next(same, None)) is not None:
            names.append(connection.name)
        else:
            found.append(([connection.name], connection))
    return found


def _own_specs(settings: Settings) -> list[NewTopicSpec]:
    """The topics of a first generation; later ones have other names and the same settings."""
    own, limits = settings.internal_topics, settings.limits
    quarantine = settings.quarantine()
    name = system_topic(own.prefix, quarantine.name)
    return [
        manifest_spec(own),
        changelog_spec(name, own, quarantine.retention, limits),
        *(
            changelog_spec(table_topic(own.prefix, 1, table.name), own, table.retention, limits)
            for table in settings.generation_tables()
        ),
    ]
