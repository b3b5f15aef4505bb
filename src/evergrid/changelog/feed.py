"""Reads the changelogs of all tables from their beginning, in batches.

A feed reads the manifest and the changelogs of the current generation, of tables without
generations and of generations in preparation; also those of the generation before, until the
current one is read completely. It continues after broker outages, and starts again with a topic
that was deleted, created again or truncated. What Kafka deleted before it was read is counted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.manifest import Manifest, carried_over
from evergrid.changelog.reader import Loss, Record, TopicReader, fold, read_to_end
from evergrid.config.settings import Connection
from evergrid.kafka import clients, topics
from evergrid.kafka.client_renewal import ClientRenewal
from evergrid.kafka.cluster_probe import ClusterProbe
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.gap import GapReason
from evergrid.model.generation import State, TableTopic
from evergrid.model.source import TopicEnd
from evergrid.model.table import Table

_SILENT_SECONDS = 2.0
_PROBE_SECONDS = 10.0
_ANSWER_SECONDS = 1.0
_RETRY_SECONDS = 1.0


class Key(msgspec.Struct, frozen=True, cache_hash=True):
    """Identifies a changelog: a topic that was created again has another id, and a topic that is
    read with another schema, or from its beginning after it was truncated, is another table."""

    topic: str
    topic_id: str
    table: Table
    restarts: int = 0


class Followed(msgspec.Struct, frozen=True):
    """A changelog that is read; generation 0 for tables without generations.

    Several generations may name it. It is read once, as the table of the current one if that
    names it; at a switch its generation changes and its key stays.
    """

    key: Key
    target: TableTopic
    generation: int


class Arrivals(msgspec.Struct, frozen=True):
    """New records of one changelog, in their order."""

    key: Key
    records: Sequence[Record]


class LoadProgress(msgspec.Struct, frozen=True):
    """How many of the changes were read that existed when reading began or it became ready."""

    done: int
    total: int

    @property
    def complete(self) -> bool:
        return self.done >= self.total


class FeedUpdate(msgspec.Struct, frozen=True):
    """The result of one read. `down` says why nothing can be read now; empty if all is well.

    `lost` counts the records of a changelog that Kafka lost before they were read, or that were
    read and are gone, by reason.
    """

    arrivals: Sequence[Arrivals]
    followed: Sequence[Followed]
    reached: Mapping[Key, LoadProgress]
    manifest: Manifest
    down: str
    lost: Mapping[Key, Mapping[GapReason, int]] = {}


class Feed:
    """Reads the changelogs that the manifest names, and knows its progress in each."""

    def __init__(
        self, connection: Connection, prefix: str, say: Callable[[str], None] = clients.LOG.warning
    ) -> None:
        """`say` reports problems with rotated secrets."""
        self._connection = connection
        self._manifest_topic = manifest_topic(prefix)
        self._probe = ClusterProbe(connection)
        self._renewal = ClientRenewal(connection, say)
        self._reader: TopicReader | None = None
        self._cluster = ""
        self._followed: dict[str, Followed] = {}  # by topic
        self._next: dict[str, dict[int, int]] = {}
        self._goals: dict[Key, dict[int, int]] = {}
        self._restarts: Counter[str] = Counter()  # by topic
        self._lost: dict[tuple[str, str], dict[GapReason, int]] = {}  # by topic and its id
        self._down = ""
        self._received_at = self._probed_at = time.monotonic()
        self._failed_probes = 0  # in a row
        self._manifest = Manifest()
        self._complete: int | None = None  # the last current generation that was read completely

    def read(self, seconds: float) -> FeedUpdate:
        """New records, waiting about `seconds` for the first; an outage is reported in `down`."""
        arrivals: list[Arrivals] = []
        try:
            if self._reader is not None:
                records = self._reader.read(seconds)
                arrivals, news = self._take(records)
                # The following requests to the broker may fail; the records are returned anyway.
                self._note_losses(self._reader.take_losses())
                self._act_on(news)
                self._check_broker(received=bool(arrivals))
            elif not self._open():
                time.sleep(seconds)
        except (LinkError, ConfigError) as error:
            # The settings were valid at the start; secrets may be invalid for a moment while they
            # are rotated.
            self.close()
            self._down = error.sentence()
            time.sleep(min(seconds, _RETRY_SECONDS))
        followed = tuple(self._followed.values())
        reached = {one.key: self._reached(one.key) for one in followed}
        known = ((one.key, self._lost.get((one.key.topic, one.key.topic_id))) for one in followed)
        lost = {key: dict(counts) for key, counts in known if counts}
        return FeedUpdate(arrivals, followed, reached, self._manifest, self._down, lost)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self) -> bool:
        """Read the manifest and follow the changelogs that it names; False if there is none."""
        self._renew()
        reached = self._probe.ask(_ANSWER_SECONDS)
        if reached is None:
            self._down = self._probe.reason()
            return False
        if self._cluster not in ("", reached.cluster_id):
            # Another cluster at the same address: nothing known so far is valid there.
            self._manifest = Manifest()
            self._followed.clear()
            self._next.clear()
        self._cluster = reached.cluster_id
        name = self._manifest_topic
        # `describe` raises LinkError for a topic without permission; then the known state stays.
        # It finds a topic that was created just now.
        if name not in reached.topics and name not in topics.describe(self._connection, [name]):
            self._down = ""
            self._manifest = Manifest()
            self._followed.clear()
            return False
        # Before reading, so that what is written meanwhile is applied twice rather than never.
        self._next[name] = topics.offsets(self._connection, name, TopicEnd.LATEST)
        fresh = fold(Manifest(), read_to_end(self._connection, name))
        self._manifest = carried_over(fresh, self._manifest)
        self._move()
        self._down, self._failed_probes = "", 0
        return True

    def _reached(self, key: Key) -> LoadProgress:
        goals, place = self._goals[key], self._next[key.topic]
        done = sum(min(place.get(p, 0), end) for p, end in goals.items())
        return LoadProgress(done, sum(goals.values()))

    def _take(self, records: Sequence[Record]) -> tuple[list[Arrivals], list[Record]]:
        """Split records into changes by changelog and manifest records."""
        by_topic: dict[str, list[Record]] = {}
        for record in records:
            self._next[record.topic][record.partition] = record.offset + 1
            by_topic.setdefault(record.topic, []).append(record)
        news = by_topic.pop(self._manifest_topic, [])
        arrivals = [Arrivals(self._followed[topic].key, batch) for topic, batch in by_topic.items()]
        self._take_ends()
        return arrivals, news

    def _note_losses(self, losses: Sequence[Loss]) -> None:
        """Count what was lost, and read a truncated changelog from its beginning as a new table:
        rows that were read may not exist any more."""
        for loss in losses:
            followed = self._followed.get(loss.topic)
            if followed is None:
                self.close()  # the manifest: it is read anew
                return
            # What the table would drop by its age may be deleted before a reader begins.
            if loss.truncated or loss.at or followed.target.table.retention.age_seconds is None:
                counts = self._lost.setdefault((loss.topic, followed.key.topic_id), {})
                reason = GapReason.TRUNCATED if loss.truncated else GapReason.RETENTION
                counts[reason] = counts.get(reason, 0) + loss.records
            self._restarts[loss.topic] += loss.truncated
        if any(loss.truncated for loss in losses):
            self._move()

    def _act_on(self, news: list[Record]) -> None:
        one_can_go = self._has_become_complete() and self._followed.keys() - self._wanted().keys()
        before, self._manifest = self._manifest, fold(self._manifest, [news])
        if one_can_go or not self._manifest.same_tables(before):
            self._move()

    def _has_become_complete(self) -> bool:
        """Whether the current generation has just been read completely."""
        current = self._manifest.current_generation
        if current is None or current.number == self._complete:
            return False
        # Tables whose topic does not exist yet count too: shared ones are complete at once.
        for target in current.tables.values():
            followed = self._followed.get(target.topic)
            if followed is None or not self._reached(followed.key).complete:
                return False
        self._complete = current.number
        return True

    def _take_ends(self) -> None:
        """Advance to the end of partitions whose last messages were compacted away."""
        assert self._reader is not None
        for (topic, partition), offset in self._reader.positions().items():
            place = self._next[topic]
            place[partition] = max(place.get(partition, 0), offset)

    def _move(self) -> None:
        """Follow the changelogs that the manifest names; with a new reader if they changed."""
        wanted = self._wanted()
        there = topics.describe(self._connection, list(wanted))
        before = self._followed
        coming = {
            topic: Followed(
                Key(topic, found.topic_id, wanted[topic][0].table, self._restarts[topic]),
                *wanted[topic],
            )
            for topic, found in there.items()
        }
        # Change nothing before all requests were answered: the broker may fail between them.
        goals = {}
        for topic, followed in list(coming.items()):
            try:
                goals[followed.key] = self._goal(followed)
            except topics.MissingTopic:  # deleted just now
                del coming[topic]
        for topic, followed in coming.items():
            if before.get(topic) is None or before[topic].key != followed.key:
                self._next[topic] = dict.fromkeys(range(followed.target.partitions), 0)
        self._goals.update(goals)
        self._followed = coming
        if self._reader is None or goals.keys() != {followed.key for followed in before.values()}:
            self._read_from_here()

    def _goal(self, followed: Followed) -> dict[int, int]:
        """The current end offsets, or those of when it became ready if they are later."""
        goal = self._goals.get(followed.key)
        if goal is None:
            goal = topics.offsets(self._connection, followed.target.topic, TopicEnd.LATEST)
        # What a truncated changelog had at `ready` will not come any more.
        ready = {} if followed.key.restarts else followed.target.ready_offsets
        return {p: max(goal.get(p, 0), ready.get(p, 0)) for p in {*goal, *ready}}

    def _read_from_here(self) -> None:
        names = (self._manifest_topic, *self._followed)
        self._next = {topic: self._next[topic] for topic in names}
        self._goals = {f.key: self._goals[f.key] for f in self._followed.values()}
        reader = TopicReader(self._connection, self._next)
        self.close()
        self._reader = reader

    def _check_broker(self, received: bool) -> None:
        """Probe broker and topics now and then, and sooner if no records come."""
        self._renew()
        now = time.monotonic()
        if received:
            self._received_at = now
            self._down, self._failed_probes = "", 0
        is_silent = now - self._received_at >= _SILENT_SECONDS
        if now - self._probed_at < (_SILENT_SECONDS if is_silent else _PROBE_SECONDS):
            return
        self._probed_at = now
        reached = self._probe.ask(_ANSWER_SECONDS)
        if reached is None:
            self._failed_probes += 1
            # One answer may be late on a busy machine.
            if not received and self._failed_probes > 1:
                self._down = self._probe.reason()
            return
        self._down, self._failed_probes = "", 0
        if reached.cluster_id != self._cluster or self._manifest_topic not in reached.topics:
            self.close()  # opened again by the next read
            return
        coming = self._wanted().keys() - self._followed.keys()
        # The consumer may not report a topic that was deleted.
        if not self._followed.keys() <= reached.topics or coming & reached.topics:
            self._move()

    def _renew(self) -> None:
        """Use rotated secrets; no record is read twice or lost."""
        renewed = self._renewal.renew(self._clients)
        if renewed is not None:
            self.close()
            self._probe, self._reader = renewed

    def _clients(self) -> tuple[ClusterProbe, TopicReader | None]:
        """New clients; the reader, if there is one, continues at its position."""
        probe = ClusterProbe(self._connection)
        if self._reader is None:
            return probe, None
        return probe, TopicReader(self._connection, self._next)

    def _wanted(self) -> dict[str, tuple[TableTopic, int]]:
        """The changelogs to read, by topic, with their generation, 0 for tables without one.

        If several generations name the same changelog, the current one takes precedence: current
        tables must not wait for the ready offsets of a generation in preparation, nor change
        their number before the switch.
        """
        manifest = self._manifest
        wanted = {target.topic: (target, 0) for target in manifest.system.values()}
        for number in sorted(manifest.generations, key=lambda it: (it == manifest.current, it)):
            one = manifest.generations[number]
            if number in (manifest.current, self._complete) or one.state in _IN_PREPARATION:
                wanted |= {target.topic: (target, number) for target in one.tables.values()}
        return wanted


# A generation in state CURRENT is still in preparation until the manifest names it. It need not be
# a newer one: a control message can go back.
_IN_PREPARATION = (State.PREPARING, State.READY, State.CURRENT)
