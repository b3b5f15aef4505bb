"""The manifest: which generations exist, what they are made of, and which is current.

A compacted topic with one partition. Keys: ``generation:N`` for each generation,
``current`` for the number of the current one, ``system`` for the tables without generations,
``pulse`` for the pipeline's heartbeat, ``choices`` for what control messages may ask for,
``asked`` for what control messages have changed so far, ``numbered`` for the highest number that
a generation ever had, ``gaps`` for rows that may be missing in joined tables, ``owner`` for the
pipeline that writes all this. A null value under ``generation:N`` removes that generation.

Several generations may name the same changelog: the next generation continues a source's table if
the source is the same. Its ready offsets may be later there.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.model.control_request import Request
from evergrid.model.generation import Generation, TableTopic
from evergrid.model.join import JoinType


class Current(msgspec.Struct, frozen=True):
    """The record that switches to a generation."""

    generation: int


class SystemTableTopics(msgspec.Struct, frozen=True):
    """Tables without generations, by name."""

    tables: Mapping[str, TableTopic]


OLD_SECONDS = 30.0  # tables that were not updated for so long are stale


class TablesBehind(msgspec.Struct, frozen=True):
    """Since when tables are behind, in microseconds since the epoch, and why.

    An empty `why`: they are up to date, as far as the pipeline knows. `tables` are the names of
    those that are behind; empty: all tables of the generation.
    """

    since: int = 0
    why: str = ""
    tables: tuple[str, ...] = ()

    def covers(self, table: str) -> bool:
        """Whether this table of the generation is behind."""
        return bool(self.why) and (not self.tables or table in self.tables)


class HeartbeatRecord(msgspec.Struct, frozen=True):
    """The heartbeat that a running pipeline writes every few seconds; `at` in microseconds."""

    at: int
    behind: TablesBehind = TablesBehind()


class Gap(msgspec.Struct, frozen=True):
    """Rows that may be missing in a table, and why.

    reason     a `GapReason` value; a newer pipeline may have others
    messages   how many messages the join left out so far, or rows or changes a gateway lacks
    keys       affected join keys, as text: the newest, at most `MAX_GAP_KEYS`
    since      when the first was left out, in microseconds since the epoch
    """

    reason: str
    messages: int
    keys: tuple[str, ...]
    since: int


MAX_GAP_KEYS = 20


class Gaps(msgspec.Struct, frozen=True):
    """Gaps by the changelog topic of the joined table."""

    topics: Mapping[str, tuple[Gap, ...]] = {}


class Choices(msgspec.Struct, frozen=True):
    """What control messages may ask for: existing topics, and the fields to name.

    `topics` may be named for every source; `sources` and `joins` map names to fields. A replaced
    generation is kept for at most `grace_seconds`; None: for as long as there is room.
    """

    topic: str = ""
    topics: tuple[str, ...] = ()
    sources: Mapping[str, str] = {}
    joins: Mapping[str, str] = {}
    grace_seconds: int | None = None


class RequestedChanges(msgspec.Struct, frozen=True):
    """What control messages before the offsets `next` have changed, for the topic with this id."""

    topic_id: str = ""
    next: Mapping[int, int] = {}
    topics: Mapping[str, str] = {}
    types: Mapping[str, JoinType] = {}

    @property
    def request(self) -> Request:
        return Request(self.topics, self.types)


class LastNumber(msgspec.Struct, frozen=True):
    """The highest number that was used; no number is used twice."""

    highest: int


class Owner(msgspec.Struct, frozen=True):
    """The pipeline that writes; each takeover has a higher `epoch`.

    lock       the lock file of its data directory, on `host`
    since      when it became the owner, in microseconds since 1970
    released   it has ended in order, and another may take over at once
    """

    epoch: int
    host: str
    pid: int
    lock: str
    since: int
    released: bool = False


class Manifest(msgspec.Struct, frozen=True):
    """All records combined."""

    generations: Mapping[int, Generation] = {}
    current: int | None = None
    system: Mapping[str, TableTopic] = {}
    heartbeat: int = 0
    behind: TablesBehind = TablesBehind()
    choices: Choices = Choices()
    asked: RequestedChanges = RequestedChanges()
    highest: int = 0
    gaps: Gaps = Gaps()
    owner: Owner | None = None

    @property
    def current_generation(self) -> Generation | None:
        return None if self.current is None else self.generations.get(self.current)

    def tables(self) -> Mapping[str, TableTopic]:
        """All tables that clients can read now, by name."""
        generation = self.current_generation
        return {**self.system, **(generation.tables if generation else {})}

    def same_tables(self, other: Manifest) -> bool:
        """Whether readers must read the same changelogs, up to the same ends."""
        return self._readable() == other._readable()

    def _readable(self) -> tuple[object, ...]:
        tables = {number: (one.state, one.tables) for number, one in self.generations.items()}
        return self.current, self.system, tables


ManifestRecord = (
    Generation
    | Current
    | SystemTableTopics
    | HeartbeatRecord
    | Choices
    | RequestedChanges
    | LastNumber
    | Gaps
    | Owner
)

_GENERATION = b"generation:"
_KEYS: Mapping[type[ManifestRecord], bytes] = {
    Current: b"current",
    SystemTableTopics: b"system",
    HeartbeatRecord: b"pulse",
    Choices: b"choices",
    RequestedChanges: b"asked",
    LastNumber: b"numbered",
    Gaps: b"gaps",
    Owner: b"owner",
}
_DECODERS: Mapping[bytes, msgspec.json.Decoder[ManifestRecord]] = {
    key: msgspec.json.Decoder(kind) for kind, key in _KEYS.items()
}
_generations = msgspec.json.Decoder(Generation)


def encode(record: ManifestRecord) -> tuple[bytes, bytes]:
    """The key and the value of a record."""
    if isinstance(record, Generation):
        return generation_key(record.number), msgspec.json.encode(record)
    return _KEYS[type(record)], msgspec.json.encode(record)


def generation_key(number: int) -> bytes:
    """The key of a generation's record; with a null value it removes the generation."""
    return _GENERATION + str(number).encode()


def apply(manifest: Manifest, key: bytes, value: bytes | None) -> Manifest:
    """The manifest after one more record; unknown keys, of newer versions, are ignored."""
    if key.startswith(_GENERATION):
        if value is None:
            return without(manifest, int(key.removeprefix(_GENERATION)))
        return updated(manifest, _generations.decode(value))
    if key not in _DECODERS or value is None:
        return manifest
    return updated(manifest, _DECODERS[key].decode(value))


def updated(manifest: Manifest, record: ManifestRecord) -> Manifest:
    """The manifest with this record instead of the one before under its key."""
    replace = msgspec.structs.replace
    match record:
        case Generation(number):
            return replace(manifest, generations={**manifest.generations, number: record})
        case Current(generation):
            return replace(manifest, current=generation)
        case SystemTableTopics(tables):
            return replace(manifest, system=tables)
        case HeartbeatRecord(at, behind):
            return replace(manifest, heartbeat=at, behind=behind)
        case Choices():
            return replace(manifest, choices=record)
        case RequestedChanges():
            return replace(manifest, asked=record)
        case LastNumber(highest):
            return replace(manifest, highest=highest)
        case Gaps():
            return replace(manifest, gaps=record)
        case Owner():
            return replace(manifest, owner=record)


def without(manifest: Manifest, number: int) -> Manifest:
    """The manifest without a generation."""
    left = {n: one for n, one in manifest.generations.items() if n != number}
    return msgspec.structs.replace(manifest, generations=left)
