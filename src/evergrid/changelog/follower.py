"""Following tables by name: through generations, deleted topics and brokers that go and come.

A follower reads the manifest and the followed tables' changelogs side by side. When the
manifest names another generation as current, it goes on with that one's topics.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec

from evergrid.changelog.codec import Change, decode
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.names import manifest_topic
from evergrid.changelog.reader import Record, TopicReader, fold, read_to_end
from evergrid.config.settings import Connection
from evergrid.kafka import topics
from evergrid.kafka.clients import where
from evergrid.kafka.probe import Pulse
from evergrid.model.errors import LinkError
from evergrid.model.generation import Generation, TableTopic
from evergrid.model.source import Edge

_SILENT_SECONDS = 2.0  # after so much silence it is asked whether anybody is there
_LOOK_SECONDS = 10.0  # and after so much in any case
_ANSWER_SECONDS = 1.0
_RETRY_SECONDS = 1.0

Offsets = Mapping[int, int]


class Followed(msgspec.Struct, frozen=True):
    """A table as it is followed now; tables of no generation have none."""

    target: TableTopic
    generation: Generation | None

    @property
    def identity(self) -> tuple[str, int]:
        """A later topic of the same name belongs to a generation made at another time."""
        return self.target.topic, self.generation.times.created if self.generation else 0


class Arrival(msgspec.Struct, frozen=True):
    """A change of a table; `live` unless it is from before the follower came."""

    table: str
    change: Change
    written_ms: int
    live: bool


class Batch(msgspec.Struct, frozen=True):
    """What one look gave: changes, then tables that moved, and what a person should know."""

    arrivals: Sequence[Arrival] = ()
    moved: Sequence[Followed] = ()
    notes: Sequence[str] = ()


class Follower:
    """Follows some tables; `from_start` with all that their changelogs hold."""

    def __init__(
        self, connection: Connection, prefix: str, tables: Sequence[str], *, from_start: bool
    ) -> None:
        self._connection = connection
        self._manifest_topic = manifest_topic(prefix)
        self._names = tuple(tables)
        self._from_start = from_start
        self._pulse = Pulse(connection)
        self._reader: TopicReader | None = None
        self._cluster = ""
        self._followed: dict[str, Followed] = {}
        self._by_topic: dict[str, str] = {}
        self._next: dict[str, dict[int, int]] = {}
        self._live_from: dict[str, Offsets] = {}
        self._waiting = False
        self._down = False
        self._told = ""
        self._heard_at = self._looked_at = time.monotonic()
        self._notes: list[str] = []
        self._moved: list[Followed] = []
        self.manifest = Manifest()

    def read(self, seconds: float = 0.2) -> Batch:
        """What has come since the last call, waiting about `seconds` for the first.

        It never fails for a broker that is away: it says so once, and once that it is back.
        """
        arrivals: list[Arrival] = []
        try:
            if self._reader is not None:
                arrivals = self._take(self._reader.read(seconds))
                self._listen(heard=bool(arrivals))
            elif not self._open():
                time.sleep(seconds)
        except LinkError as error:
            self._lose(error.sentence())
            time.sleep(min(seconds, _RETRY_SECONDS))
        batch = Batch(tuple(arrivals), tuple(self._moved), tuple(self._notes))
        self._moved.clear()
        self._notes.clear()
        return batch

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self) -> bool:
        """Read the manifest anew and follow what it names; False while there is no manifest."""
        reached = self._pulse.feel(_ANSWER_SECONDS)
        if reached is None:
            self._lose(f"{where(self._connection)} does not answer.")
            return False
        if self._cluster not in ("", reached.cluster_id):
            # Another cluster under the same address: nothing that we know holds there.
            self._followed.clear()
            self._next.clear()
        self._cluster = reached.cluster_id
        name = self._manifest_topic
        if name not in topics.describe(self._connection, [name]):
            return False
        # Taken before reading: what is written meanwhile is applied twice rather than never.
        self._next[name] = topics.offsets(self._connection, name, Edge.LATEST)
        self.manifest = fold(Manifest(), read_to_end(self._connection, name))
        self._move()
        self._find_again()
        return True

    def _take(self, records: Sequence[Record]) -> list[Arrival]:
        """Sort what was read: changes to hand on, manifest records to act on."""
        arrivals = []
        news = []
        for record in records:
            self._next[record.topic][record.partition] = record.offset + 1
            table = self._by_topic.get(record.topic)
            if table is None:
                news.append(record)
                continue
            live = record.offset >= self._live_from[table].get(record.partition, 0)
            change = decode(record.key, record.value)
            arrivals.append(Arrival(table, change, record.timestamp_ms, live))
        if news:
            before, self.manifest = self.manifest, fold(self.manifest, [news])
            if not self.manifest.same_tables(before):
                self._move()
        return arrivals

    def _move(self) -> None:
        """Follow each table where the manifest has it now; a new reader if that is elsewhere."""
        wanted = self._wanted()
        there = topics.describe(self._connection, [f.target.topic for f in wanted.values()])
        present = {name: f for name, f in wanted.items() if f.target.topic in there}
        self._waiting = len(present) < len(self._names)
        self._tell_missing(sorted(set(self._names) - present.keys()))
        moved = [
            (name, followed)
            for name, followed in present.items()
            if followed.target.topic not in self._next
            or name not in self._followed
            or self._followed[name].identity != followed.identity
        ]
        gone = self._by_topic.keys() - {f.target.topic for f in present.values()}
        for name, followed in moved:
            self._place(name, followed)
        if self._reader is None or moved or gone:
            self._by_topic = {f.target.topic: name for name, f in present.items()}
            self._read_from_here()

    def _wanted(self) -> dict[str, Followed]:
        current = self.manifest.current_generation
        tables = self.manifest.tables()
        owned = current.tables if current else {}
        return {
            name: Followed(tables[name], current if name in owned else None)
            for name in self._names
            if name in tables
        }

    def _place(self, name: str, followed: Followed) -> None:
        """Decide where to begin in the topic that a table has moved to."""
        target, before = followed.target, self._followed.get(name)
        ends: Offsets = target.ready_offsets
        if before is None:
            ends = topics.offsets(self._connection, target.topic, Edge.LATEST)
        elif followed.generation is not None:
            self._notes.append(f"{name} is now that of generation {followed.generation.number}.")
        start = dict.fromkeys(range(target.partitions), 0)
        if not self._from_start:
            start |= ends
        self._next[target.topic] = start
        self._live_from[name] = ends
        self._followed[name] = followed
        self._moved.append(followed)

    def _read_from_here(self) -> None:
        if self._reader is not None:
            self._reader.close()
        names = (self._manifest_topic, *self._by_topic)
        self._next = {topic: self._next[topic] for topic in names}
        self._reader = TopicReader(self._connection, self._next)

    def _listen(self, heard: bool) -> None:
        """Ask now and then, and soon in silence, whether broker and topics are still there."""
        now = time.monotonic()
        if heard:
            self._heard_at = now
            self._find_again()
        looked = now - self._looked_at
        if looked < (_LOOK_SECONDS if now - self._heard_at < _SILENT_SECONDS else _SILENT_SECONDS):
            return
        self._looked_at = now
        reached = self._pulse.feel(_ANSWER_SECONDS)
        if reached is None:
            if not heard:
                self._tell_down(f"{where(self._connection)} does not answer.")
            return
        if reached.cluster_id != self._cluster or self._manifest_topic not in reached.topics:
            self.close()  # opened again with the next look
            return
        self._find_again()
        # The client itself may stay silent about a topic that was deleted.
        if self._waiting or not self._by_topic.keys() <= reached.topics:
            self._move()

    def _lose(self, why: str) -> None:
        self.close()
        self._tell_down(why)

    def _tell_down(self, why: str) -> None:
        if not self._down:
            self._notes.append(f"{why} Going on when it is back.")
        self._down = True

    def _find_again(self) -> None:
        if self._down:
            self._notes.append(f"{where(self._connection)} is back.")
        self._down = False

    def _tell_missing(self, names: Sequence[str]) -> None:
        """Say once which tables cannot be followed now."""
        told = ", ".join(names) if self.manifest.current is not None else ""
        if told and told != self._told:
            self._notes.append(f"{told}: not there now. Waiting for a generation that has it.")
        self._told = told
