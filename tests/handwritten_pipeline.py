"""A pipeline's topics, written by a test without Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

import msgspec

from evergrid.changelog.codec import Row
from evergrid.changelog.internal_topics import (
    changelog_spec,
    control_spec,
    manifest_spec,
    system_topic,
    table_topic,
)
from evergrid.changelog.manifest import (
    Choices,
    Current,
    Gap,
    Gaps,
    HeartbeatRecord,
    SystemTableTopics,
)
from evergrid.changelog.writer import ManifestWriter, RecordWriter, TableWriter
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.model.control_request import Verdict, topic_words, type_words
from evergrid.model.errors import LinkError
from evergrid.model.generation import Generation, Progress, State, TableTopic, Times
from evergrid.model.source import TopicEnd
from evergrid.model.table import Table

_LEADER_SECONDS = 60.0
_LOOK_SECONDS = 0.1


class HandwrittenPipeline:
    """Writes what a pipeline with these settings would; the test decides what and when."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._connection = settings.kafka.internal
        own = settings.internal_topics
        self.quarantine = self._system(settings.quarantine())
        self.control_raw = self._system(settings.control_raw())
        topics.create(self._connection, [manifest_spec(own), self._spec(self.quarantine)])
        self._records = RecordWriter(self._connection)
        self._manifest = ManifestWriter(self._records, own.prefix)
        tables = {self.quarantine.table.name: self.quarantine}
        self._manifest.write(SystemTableTopics(tables))
        self._sender = Sender(self._connection)

    def take_control(self, offered: Sequence[str] = ()) -> None:
        """From now on it is one that runs, reads control messages and offers these topics."""
        settings, own = self._settings, self._settings.internal_topics
        topics.create(settings.kafka.control, [control_spec(settings.control.topic, own)])
        topics.create(self._connection, [self._spec(self.control_raw)])
        tables = (self.quarantine, self.control_raw)
        self._manifest.write(SystemTableTopics({target.table.name: target for target in tables}))
        self._manifest.write(
            Choices(
                topic=settings.control.topic,
                topics=tuple(offered),
                sources=topic_words(settings.sources),
                joins=type_words(settings.joins),
            )
        )
        self.beat()

    def beat(self, ago_seconds: float = 0.0) -> None:
        """Write a heartbeat, or one with an earlier time."""
        at = time.time_ns() // 1000 - round(ago_seconds * 1e6)
        self._manifest.write(HeartbeatRecord(at))

    def miss(self, target: TableTopic, *gaps: Gap) -> None:
        """Report that a joined table may lack rows."""
        self._manifest.write(Gaps({target.topic: gaps}))

    def judge(
        self,
        place: tuple[int, int],
        verdict: Verdict,
        *,
        reason: str = "",
        generation: int | None = None,
        message: str = "{}",
        by: str = "",
    ) -> None:
        """What became of the control message at this partition and offset."""
        partition, offset = place
        now = time.time_ns() // 1000
        row: Row = {
            "message": message,
            "verdict": verdict.value,
            "reason": reason or None,
            "generation": generation,
            "by": by or None,
            "decided": now,
            "ts": now,
            "_partition": partition,
            "_offset": offset,
        }
        TableWriter(self._records, self.control_raw).put(row)

    def tell(self, generation: Generation, progress: Progress) -> None:
        """Set the progress of a preparation."""
        self._manifest.write(msgspec.structs.replace(generation, progress=progress))

    def prepare(self, number: int, *, sharing: Generation | None = None) -> Generation:
        """A generation with empty changelogs, not current yet; its sources' tables are those of
        the one that it is `sharing` them with."""
        settings = self._settings
        tables = settings.generation_tables()
        placed = {table.name: self._placed(number, table) for table in tables}
        if sharing is not None:
            placed |= {t.name: sharing.tables[t.name] for t in settings.raw_tables()}
        topics.create(self._connection, [self._spec(table) for table in placed.values()])
        generation = Generation(
            number=number,
            state=State.PREPARING,
            sources=settings.sources,
            joins=settings.joins,
            topics={},
            tables=placed,
            times=Times(created=time.time_ns() // 1000),
        )
        self._manifest.write(generation)
        return generation

    def switch(self, generation: Generation, *, incomplete: str = "") -> None:
        """Make it the current one, complete as it is now; but for one table, if you name it,
        which lacks a change in its first partition."""
        tables = {}
        for name, table in generation.tables.items():
            ends = self._ends(table.topic)
            ends[0] += name == incomplete
            tables[name] = msgspec.structs.replace(table, ready_offsets=ends)
        current = msgspec.structs.replace(generation, state=State.CURRENT, tables=tables)
        self._manifest.write(current)
        self._manifest.write(Current(generation.number))

    def become(self, generation: Generation, state: State) -> Generation:
        """Set the state of a generation."""
        changed = msgspec.structs.replace(generation, state=state)
        self._manifest.write(changed)
        return changed

    def remove(self, generation: Generation, *, sharing: Generation | None = None) -> None:
        """Delete its topics and forget it, but for those that the other one has too."""
        kept = {table.topic for table in sharing.tables.values()} if sharing else set()
        gone = {table.topic for table in generation.tables.values()} - kept
        topics.delete(self._connection, sorted(gone))
        self._manifest.forget(generation.number)

    def write(self, target: TableTopic, row_id: str, row: Row | None) -> None:
        """One change, on the broker when this returns."""
        self.write_all(target, {row_id: row})

    def write_all(self, target: TableTopic, rows: Mapping[str, Row | None]) -> None:
        """Changes of different rows, None for those to delete."""
        for row_id, row in rows.items():
            value = None if row is None else json.dumps(row).encode()
            self._sender.send(target.topic, value, row_id.encode())
        self._sender.flush()

    def _ends(self, topic: str) -> dict[int, int]:
        """A new topic's leader may not be ready although everyone sees the topic."""
        deadline = time.monotonic() + _LEADER_SECONDS
        while True:
            try:
                return topics.offsets(self._connection, topic, TopicEnd.LATEST)
            except LinkError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_SECONDS)

    def _system(self, table: Table) -> TableTopic:
        own = self._settings.internal_topics
        return TableTopic(table, system_topic(own.prefix, table.name), own.partitions)

    def _placed(self, number: int, table: Table) -> TableTopic:
        own = self._settings.internal_topics
        return TableTopic(table, table_topic(own.prefix, number, table.name), own.partitions)

    def _spec(self, target: TableTopic) -> topics.NewTopicSpec:
        settings = self._settings
        return changelog_spec(
            target.topic, settings.internal_topics, target.table.retention, settings.limits
        )
