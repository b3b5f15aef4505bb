"""The manifest: which generations exist, what they are made of, and which is current.

A compacted topic with one partition. Keys: ``generation:N`` for each generation,
``current`` for the number of the current one, ``system`` for the tables without generations,
``pulse`` for the pipeline's heartbeat, ``choices`` for what control messages may ask for,
``asked`` for what control messages have changed so far, ``numbered`` for the highest number that
a generation ever had, ``gaps`` for rows that may be missing in joined tables, ``owner`` for the
pipeline that writes all this. A null value under ``generation:N`` removes that generation.

A record that cannot be read is skipped: the last valid value under its key holds, and `unreadable`
has the key until a valid record comes under it.

Several generations may name the same changelog: the next generation continues a source's table if
the source is the same. Its ready offsets may be later there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from evergrid.changelog.unreadable_records import (
    FORMAT,
    NewerFormat,
    SkipReason,
    UnreadableRecord,
    check_format,
    check_tables,
)
from evergrid.model.control_request import Request
from evergrid.model.errors import DataError
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
    """All records combined.

    unknown_current   the generation that `current` names in the topic, as long as no record of it
                      can be read; until then the one before stays current
    unreadable        keys whose newest record cannot be read
    skipped           how many records were skipped so far, by `SkipReason` value
    """

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
    unknown_current: int | None = None
    unreadable: Mapping[bytes, UnreadableRecord] = {}
    skipped: Mapping[str, int] = {}

    @property
    def last_unreadable(self) -> int:
        """The highest number of a generation whose record cannot be read, or 0.

        It may need topics and checkpoints of every generation up to its own number.
        """
        numbers = (_number(key) for key in self.unreadable)
        return max((number for number in numbers if number is not None), default=0)

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

HEARTBEAT_KEY = b"pulse"
_GENERATION = b"generation:"
_GENERATION_KEY = re.compile(rb"generation:(0|[1-9][0-9]{0,17})")
_KEYS: Mapping[type[ManifestRecord], bytes] = {
    Current: b"current",
    SystemTableTopics: b"system",
    HeartbeatRecord: HEARTBEAT_KEY,
    Choices: b"choices",
    RequestedChanges: b"asked",
    LastNumber: b"numbered",
    Gaps: b"gaps",
    Owner: b"owner",
}
_DECODERS: Mapping[bytes, msgspec.json.Decoder[ManifestRecord]] = {
    key: msgspec.json.Decoder(kind) for kind, key in _KEYS.items()
}
_generations: msgspec.json.Decoder[ManifestRecord] = msgspec.json.Decoder(Generation)
_FIELDS: Mapping[bytes, tuple[str, ...]] = {  # of a manifest, by the key of their record
    b"current": ("current",),
    b"system": ("system",),
    HEARTBEAT_KEY: ("heartbeat", "behind"),
    b"choices": ("choices",),
    b"asked": ("asked",),
    b"numbered": ("highest",),
    b"gaps": ("gaps",),
    b"owner": ("owner",),
}


def encode(record: ManifestRecord) -> tuple[bytes, bytes]:
    """The key and the value of a record."""
    key = generation_key(record.number) if isinstance(record, Generation) else _KEYS[type(record)]
    return key, msgspec.json.encode({"format": FORMAT, **msgspec.structs.asdict(record)})


def generation_key(number: int) -> bytes:
    """The key of a generation's record; with a null value it removes the generation."""
    return _GENERATION + str(number).encode()


def _number(key: bytes) -> int | None:
    """The generation whose key this is; None for other keys."""
    found = _GENERATION_KEY.fullmatch(key)
    return int(found[1]) if found else None


def apply(manifest: Manifest, key: bytes, value: bytes | None) -> Manifest:
    """The manifest after one more record; one that cannot be read changes no value."""
    if key not in _DECODERS and not key.startswith(_GENERATION):
        return manifest  # a newer version's
    unreadable = {it: known for it, known in manifest.unreadable.items() if it != key}
    skipped = manifest.skipped
    if value is None:
        number = _number(key)
        manifest = manifest if number is None else without(manifest, number)
    else:
        try:
            manifest = updated(manifest, _decoded(key, value))
        except (
            DataError,
            msgspec.MsgspecError,
            ValueError,
            RecursionError,
            OverflowError,
        ) as error:
            is_newer = isinstance(error, NewerFormat)
            reason = SkipReason.NEWER_FORMAT if is_newer else SkipReason.INVALID
            unreadable[key] = UnreadableRecord(reason, str(error))
            skipped = {**skipped, reason.value: skipped.get(reason.value, 0) + 1}
    return msgspec.structs.replace(manifest, unreadable=unreadable, skipped=skipped)


def _decoded(key: bytes, value: bytes) -> ManifestRecord:
    check_format(value)
    record = _DECODERS.get(key, _generations).decode(value)
    if isinstance(record, Generation) and generation_key(record.number) != key:
        raise DataError(f"its number is {record.number}")
    if isinstance(record, Generation | SystemTableTopics):
        check_tables(record.tables)
    msgspec.msgpack.encode(record)  # OverflowError for numbers of more than 64 bits
    return record


def carried_over(fresh: Manifest, before: Manifest) -> Manifest:
    """A manifest that was read anew, with the last valid values of `before` where the topic has
    none any more: compaction keeps only the newest record of a key, and that cannot be read."""
    empty = Manifest()
    kept = {}
    for key in fresh.unreadable:
        for field in _FIELDS.get(key, ()):
            if getattr(fresh, field) == getattr(empty, field):
                kept[field] = getattr(before, field)
    if fresh.current is None and fresh.unknown_current is not None:
        kept["current"] = before.current
    counts = {*fresh.skipped, *before.skipped}
    kept["skipped"] = {
        reason: max(fresh.skipped.get(reason, 0), before.skipped.get(reason, 0))
        for reason in counts
    }
    manifest = msgspec.structs.replace(fresh, **kept)
    for number, one in before.generations.items():
        if number not in fresh.generations and generation_key(number) in fresh.unreadable:
            manifest = updated(manifest, one)
    return manifest


def updated(manifest: Manifest, record: ManifestRecord) -> Manifest:
    """The manifest with this record instead of the one before under its key."""
    replace = msgspec.structs.replace
    match record:
        case Generation(number):
            known = replace(manifest, generations={**manifest.generations, number: record})
            return updated(known, Current(number)) if number == known.unknown_current else known
        case Current(generation):
            if generation not in manifest.generations:
                return replace(manifest, unknown_current=generation)
            return replace(manifest, current=generation, unknown_current=None)
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
