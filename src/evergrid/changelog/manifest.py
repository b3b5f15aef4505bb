"""The manifest: which generations exist, what they are made of, and which is current.

A compacted topic with one partition. Keys: ``generation:N`` for each generation,
``current`` for the number of the current one, ``system`` for the tables without generations,
``pulse`` for the pipeline's heartbeat, ``choices`` for what control messages may ask for,
``asked`` for what control messages have changed so far, ``numbered`` for the highest number that
a generation ever had, ``gaps`` for rows that may be missing in joined tables. A null value under
``generation:N`` removes that generation.

Several generations may name the same changelog: the next generation continues a source's table if
the source is the same. Its ready offsets may be later there.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.model.control_request import Request
from evergrid.model.generation import Generation, TableTopic
from evergrid.model.join import JoinType

_CURRENT = b"current"
_SYSTEM = b"system"
_HEARTBEAT = b"pulse"
_CHOICES = b"choices"
_ASKED = b"asked"
_NUMBERED = b"numbered"
_GAPS = b"gaps"
_GENERATION = b"generation:"


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
    """Rows that may be missing in a joined table, and why.

    reason     a `GapReason` value; a newer pipeline may have others
    messages   how many messages the join left out so far
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

    @property
    def current_generation(self) -> Generation | None:
        return None if self.current is None else self.generations.get(self.current)

    def tables(self) -> Mapping[str, TableTopic]:
        """All tables that clients can read now, by name."""
        generation = self.current_generation
        return {**self.system, **(generation.tables if generation else {})}

    def same_tables(self, other: Manifest) -> bool:
        """Whether readers must read the same changelogs, up to the same ends."""
        return (
            self.current == other.current
            and self.system == other.system
            and _readable(self) == _readable(other)
        )


def _readable(manifest: Manifest) -> dict[int, tuple[object, ...]]:
    return {number: (one.state, one.tables) for number, one in manifest.generations.items()}


_generations = msgspec.json.Decoder(Generation)
_currents = msgspec.json.Decoder(Current)
_systems = msgspec.json.Decoder(SystemTableTopics)
_heartbeats = msgspec.json.Decoder(HeartbeatRecord)
_choices = msgspec.json.Decoder(Choices)
_asked = msgspec.json.Decoder(RequestedChanges)
_numbered = msgspec.json.Decoder(LastNumber)
_gaps = msgspec.json.Decoder(Gaps)


def encode_generation(generation: Generation) -> tuple[bytes, bytes]:
    return _GENERATION + str(generation.number).encode(), msgspec.json.encode(generation)


def encode_gone(number: int) -> tuple[bytes, None]:
    return _GENERATION + str(number).encode(), None


def encode_current(number: int) -> tuple[bytes, bytes]:
    return _CURRENT, msgspec.json.encode(Current(number))


def encode_system(tables: Mapping[str, TableTopic]) -> tuple[bytes, bytes]:
    return _SYSTEM, msgspec.json.encode(SystemTableTopics(tables))


def encode_heartbeat(at: int, behind: TablesBehind) -> tuple[bytes, bytes]:
    return _HEARTBEAT, msgspec.json.encode(HeartbeatRecord(at, behind))


def encode_choices(choices: Choices) -> tuple[bytes, bytes]:
    return _CHOICES, msgspec.json.encode(choices)


def encode_asked(asked: RequestedChanges) -> tuple[bytes, bytes]:
    return _ASKED, msgspec.json.encode(asked)


def encode_numbered(highest: int) -> tuple[bytes, bytes]:
    return _NUMBERED, msgspec.json.encode(LastNumber(highest))


def encode_gaps(gaps: Gaps) -> tuple[bytes, bytes]:
    return _GAPS, msgspec.json.encode(gaps)


def apply(manifest: Manifest, key: bytes, value: bytes | None) -> Manifest:
    """The manifest after one more record; unknown keys, of newer versions, are ignored."""
    if key == _CURRENT and value is not None:
        return msgspec.structs.replace(manifest, current=_currents.decode(value).generation)
    if key == _SYSTEM and value is not None:
        return msgspec.structs.replace(manifest, system=_systems.decode(value).tables)
    if key == _HEARTBEAT and value is not None:
        record = _heartbeats.decode(value)
        return msgspec.structs.replace(manifest, heartbeat=record.at, behind=record.behind)
    if key == _CHOICES and value is not None:
        return msgspec.structs.replace(manifest, choices=_choices.decode(value))
    if key == _ASKED and value is not None:
        return msgspec.structs.replace(manifest, asked=_asked.decode(value))
    if key == _NUMBERED and value is not None:
        return msgspec.structs.replace(manifest, highest=_numbered.decode(value).highest)
    if key == _GAPS and value is not None:
        return msgspec.structs.replace(manifest, gaps=_gaps.decode(value))
    if key.startswith(_GENERATION):
        number = int(key.removeprefix(_GENERATION))
        others = {n: g for n, g in manifest.generations.items() if n != number}
        if value is not None:
            others[number] = _generations.decode(value)
        return msgspec.structs.replace(manifest, generations=others)
    return manifest
