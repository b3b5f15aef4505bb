"""All tables at once, for whoever keeps them: their changelogs from the beginning, by batch.

A feed reads the manifest and the changelogs of the tables that are current, of those that
belong to no generation, and of generations that are coming; and of the one before for as long
as the current one is not read. It goes on through brokers that go and come, and starts anew
where a topic is not the one it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.reader import Record, TopicReader, fold, read_to_end
from evergrid.config.settings import Connection
from evergrid.kafka import clients, topics
from evergrid.kafka.probe import Pulse
from evergrid.kafka.renewal import Renewal
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.generation import State, TableTopic
from evergrid.model.source import Edge
from evergrid.model.table import Table

_SILENT_SECONDS = 2.0
_LOOK_SECONDS = 10.0
_ANSWER_SECONDS = 1.0
_RETRY_SECONDS = 1.0


class Key(msgspec.Struct, frozen=True, cache_hash=True):
    """Which changelog: a later topic of the same name has another id, and one that is read by
    another contract is another table."""

    topic: str
    topic_id: str
    table: Table


class Followed(msgspec.Struct, frozen=True):
    """One changelog that is read; generation 0 for tables that belong to none.

    Several generations may name it. It is read once, as the table of the current one if that
    names it, and its number becomes another at a switch while its key stays.
    """

    key: Key
    target: TableTopic
    generation: int


class Arrivals(msgspec.Struct, frozen=True):
    """What came for one changelog, in its order."""

    key: Key
    records: Sequence[Record]


class Reached(msgspec.Struct, frozen=True):
    """Changes read, of those that were there when reading began or it became ready."""

    done: int
    total: int

    @property
    def complete(self) -> bool:
        return self.done >= self.total


class News(msgspec.Struct, frozen=True):
    """What one look gave. `down` says why nothing can be read now; empty when all is well."""

    arrivals: Sequence[Arrivals]
    followed: Sequence[Followed]
    reached: Mapping[Key, Reached]
    manifest: Manifest
    down: str


class Feed:
    """Reads what the manifest names, and says how far each changelog is."""

    def __init__(
        self, connection: Connection, prefix: str, say: Callable[[str], None] = clients.LOG.warning
    ) -> None:
        """`say` is told what keeps rotated secrets from being used."""
        self._connection = connection
        self._manifest_topic = manifest_topic(prefix)
        self._pulse = Pulse(connection)
        self._renewal = Renewal(connection, say)
        self._reader: TopicReader | None = None
        self._cluster = ""
        self._followed: dict[str, Followed] = {}  # by topic
        self._next: dict[str, dict[int, int]] = {}
        self._goals: dict[Key, dict[int, int]] = {}
        self._down = ""
        self._heard_at = self._looked_at = time.monotonic()
        self._missed = 0  # looks in a row that nobody answered
        self._manifest = Manifest()
        self._whole: int | None = None  # the last current generation of which all was read

    def read(self, seconds: float) -> News:
        """What has come, waiting about `seconds` for the first; a broker away is no error."""
        arrivals: list[Arrivals] = []
        try:
            if self._reader is not None:
                arrivals, news = self._take(self._reader.read(seconds))
                # What follows asks the broker and may fail; what has come is handed on anyway.
                self._act_on(news)
                self._listen(heard=bool(arrivals))
            elif not self._open():
                time.sleep(seconds)
        except (LinkError, ConfigError) as error:
            # Its settings were good when it was made: secrets that are being rotated may be bad
            # for a moment.
            self.close()
            self._down = error.sentence()
            time.sleep(min(seconds, _RETRY_SECONDS))
        followed = tuple(self._followed.values())
        reached = {one.key: self._reached(one.key) for one in followed}
        return News(arrivals, followed, reached, self._manifest, self._down)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self) -> bool:
        """Read the manifest anew and follow what it names; False while there is none."""
        self._renew()
        reached = self._pulse.feel(_ANSWER_SECONDS)
        if reached is None:
            self._down = self._pulse.why()
            return False
        if self._cluster not in ("", reached.cluster_id):
            # Another cluster under the same address: nothing that we know holds there.
            self._followed.clear()
            self._next.clear()
        self._cluster = reached.cluster_id
        name = self._manifest_topic
        # One that is there and may not be seen is a LinkError: then what we know still holds. One
        # that is seen now was only just made, or shown to us.
        if name not in reached.topics and name not in topics.describe(self._connection, [name]):
            self._down = ""
            self._manifest = Manifest()
            self._followed.clear()
            return False
        # Taken before reading: what is written meanwhile is applied twice rather than never.
        self._next[name] = topics.offsets(self._connection, name, Edge.LATEST)
        self._manifest = fold(Manifest(), read_to_end(self._connection, name))
        self._move()
        self._down, self._missed = "", 0
        return True

    def _reached(self, key: Key) -> Reached:
        goals, place = self._goals[key], self._next[key.topic]
        done = sum(min(place.get(p, 0), end) for p, end in goals.items())
        return Reached(done, sum(goals.values()))

    def _take(self, records: Sequence[Record]) -> tuple[list[Arrivals], list[Record]]:
        """Sort what was read: changes to hand on, manifest records to act on."""
        by_topic: dict[str, list[Record]] = {}
        for record in records:
            self._next[record.topic][record.partition] = record.offset + 1
            by_topic.setdefault(record.topic, []).append(record)
        news = by_topic.pop(self._manifest_topic, [])
        arrivals = [Arrivals(self._followed[topic].key, batch) for topic, batch in by_topic.items()]
        self._take_ends()
        return arrivals, news

    def _act_on(self, news: list[Record]) -> None:
        one_can_go = self._has_become_whole() and self._follows_too_much()
        before, self._manifest = self._manifest, fold(self._manifest, [news])
        if one_can_go or not self._manifest.same_tables(before):
            self._move()

    def _has_become_whole(self) -> bool:
        """Whether the last of the current generation has just been read."""
        current = self._manifest.current_generation
        if current is None or current.number == self._whole:
            return False
        # Also those that are not there yet: of its tables, the shared ones are complete at once.
        for target in current.tables.values():
            followed = self._followed.get(target.topic)
            if followed is None or not self._reached(followed.key).complete:
                return False
        self._whole = current.number
        return True

    def _follows_too_much(self) -> bool:
        return bool(self._followed.keys() - self._wanted().keys())

    def _take_ends(self) -> None:
        """Where the last messages were compacted away, the end is further than what was read."""
        assert self._reader is not None
        for (topic, partition), offset in self._reader.positions().items():
            place = self._next[topic]
            place[partition] = max(place.get(partition, 0), offset)

    def _move(self) -> None:
        """Follow what the manifest names now; a new reader if that is something else."""
        wanted = self._wanted()
        there = topics.describe(self._connection, list(wanted))
        before = self._followed
        coming = {
            topic: Followed(Key(topic, found.topic_id, wanted[topic][0].table), *wanted[topic])
            for topic, found in there.items()
        }
        # Nothing is changed before the broker has answered all: it may go away in the middle.
        goals = {}
        for topic, followed in list(coming.items()):
            try:
                goals[followed.key] = self._goal(followed)
            except topics.Missing:  # it went just now
                del coming[topic]
        for topic, followed in coming.items():
            if before.get(topic) is None or before[topic].key != followed.key:
                self._next[topic] = dict.fromkeys(range(followed.target.partitions), 0)
        self._goals.update(goals)
        self._followed = coming
        if self._reader is None or goals.keys() != {followed.key for followed in before.values()}:
            self._read_from_here()

    def _goal(self, followed: Followed) -> dict[int, int]:
        """Everything that is there now, and at least what was there when it became ready."""
        goal = self._goals.get(followed.key)
        if goal is None:
            goal = topics.offsets(self._connection, followed.target.topic, Edge.LATEST)
        ready = followed.target.ready_offsets
        return {p: max(goal.get(p, 0), ready.get(p, 0)) for p in {*goal, *ready}}

    def _read_from_here(self) -> None:
        names = (self._manifest_topic, *self._followed)
        self._next = {topic: self._next[topic] for topic in names}
        self._goals = {f.key: self._goals[f.key] for f in self._followed.values()}
        self._replace(TopicReader(self._connection, self._next))

    def _replace(self, reader: TopicReader | None) -> None:
        self.close()
        self._reader = reader

    def _listen(self, heard: bool) -> None:
        """Ask now and then, and soon in silence, whether broker and topics are still there."""
        self._renew()
        now = time.monotonic()
        if heard:
            self._heard_at = now
            self._down, self._missed = "", 0
        looked = now - self._looked_at
        if looked < (_LOOK_SECONDS if now - self._heard_at < _SILENT_SECONDS else _SILENT_SECONDS):
            return
        self._looked_at = now
        reached = self._pulse.feel(_ANSWER_SECONDS)
        if reached is None:
            self._missed += 1
            if not heard and self._missed > 1:  # one answer may be late, on a busy machine
                self._down = self._pulse.why()
            return
        self._down, self._missed = "", 0
        if reached.cluster_id != self._cluster or self._manifest_topic not in reached.topics:
            self.close()  # opened again with the next look
        elif not self._followed.keys() <= reached.topics or self._is_waiting(reached.topics):
            # The client itself may stay silent about a topic that was deleted.
            self._move()

    def _renew(self) -> None:
        """Go on with secrets that were rotated; nothing is read twice or left out for it."""
        renewed = self._renewal.renew(self._clients)
        if renewed is not None:
            self._pulse, reader = renewed
            self._replace(reader)

    def _clients(self) -> tuple[Pulse, TopicReader | None]:
        """Both anew, from where the reader is, if there is one."""
        pulse = Pulse(self._connection)
        if self._reader is None:
            return pulse, None
        return pulse, TopicReader(self._connection, self._next)

    def _is_waiting(self, there: frozenset[str]) -> bool:
        """Whether a changelog that was missing is there now."""
        return bool((self._wanted().keys() - self._followed.keys()) & there)

    def _wanted(self) -> dict[str, tuple[TableTopic, int]]:
        """The changelogs worth reading, by topic: with their generation, 0 for those of none.

        A coming one's before anybody sees it; the one before, until nobody sees it any more.
        Where several name the same changelog, the current one's word counts: what is on screens
        must not wait for a coming one's ready offsets, nor change its number before the switch.
        """
        manifest = self._manifest
        wanted = {target.topic: (target, 0) for target in manifest.system.values()}
        for number in sorted(manifest.generations, key=lambda it: (it == manifest.current, it)):
            one = manifest.generations[number]
            if number in (manifest.current, self._whole) or one.state in _COMING:
                wanted |= {target.topic: (target, number) for target in one.tables.values()}
        return wanted


# One that calls itself current is still coming until the manifest names it. It need not be a
# newer one: people go back.
_COMING = (State.PREPARING, State.READY, State.CURRENT)
