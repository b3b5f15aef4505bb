"""The shapes of records as the version without `format` reads them: a copy that never changes."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Mapping

import msgspec


class ColumnKind(enum.Enum):
    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"


class TimeUnit(enum.Enum):
    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"


class FieldType(msgspec.Struct, frozen=True, omit_defaults=True):
    kind: ColumnKind
    precision: int = 0
    scale: int = 0
    unit: TimeUnit = TimeUnit.MILLISECONDS


class Field(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    type: FieldType
    json_name: str = ""


class TopicEnd(enum.Enum):
    EARLIEST = "earliest"
    LATEST = "latest"


class StartTime(msgspec.Struct, frozen=True):
    time: datetime.datetime


Start = TopicEnd | StartTime


class Source(msgspec.Struct, frozen=True):
    name: str
    topic: str
    table: str
    fields: tuple[Field, ...]
    key: str
    time_field: str = ""
    start: Start = TopicEnd.EARLIEST


class JoinType(enum.Enum):
    ASOF = "asof"
    LEFT = "left"
    INNER = "inner"


class Side(enum.Enum):
    LEFT = "left"
    RIGHT = "right"


class JoinColumn(msgspec.Struct, frozen=True):
    name: str
    side: Side
    field: str


class History(msgspec.Struct, frozen=True, omit_defaults=True):
    left: int | None = None
    right: int | None = None


class Join(msgspec.Struct, frozen=True):
    name: str
    table: str
    type: JoinType
    left: str
    right: str
    left_key: str
    right_key: str
    history: History
    columns: tuple[JoinColumn, ...]
    pairs: int = 10000


class Role(enum.Enum):
    DATA = "data"
    TIME = "time"
    TRACE = "trace"


class Column(msgspec.Struct, frozen=True):
    name: str
    type: FieldType
    role: Role = Role.DATA


class Retention(msgspec.Struct, frozen=True):
    rows: int | None = None
    age_seconds: int | None = None


class Table(msgspec.Struct, frozen=True):
    name: str
    columns: tuple[Column, ...]
    row_id: tuple[str, ...]
    order: tuple[str, ...]
    version: tuple[str, ...] = ()
    retention: Retention = Retention()


class State(enum.Enum):
    PREPARING = "preparing"
    READY = "ready"
    CURRENT = "current"
    RETIRING = "retiring"
    GONE = "gone"
    FAILED = "failed"


class SourceTopic(msgspec.Struct, frozen=True):
    topic_id: str
    start: Mapping[int, int]
    raw: int = 0
    made: int = 0


class TableTopic(msgspec.Struct, frozen=True):
    table: Table
    topic: str
    partitions: int
    ready_offsets: Mapping[int, int] = {}


class Progress(msgspec.Struct, frozen=True):
    step: str
    done: int
    total: int


class Times(msgspec.Struct, frozen=True):
    created: int = 0
    ready: int = 0
    current: int = 0
    ended: int = 0


class Generation(msgspec.Struct, frozen=True):
    number: int
    state: State
    sources: Mapping[str, Source]
    joins: Mapping[str, Join]
    topics: Mapping[str, SourceTopic]
    tables: Mapping[str, TableTopic]
    times: Times
    progress: Progress | None = None
    error: str = ""
    cause: str = ""
    engine: int = 1


class Current(msgspec.Struct, frozen=True):
    generation: int


class SystemTableTopics(msgspec.Struct, frozen=True):
    tables: Mapping[str, TableTopic]


class TablesBehind(msgspec.Struct, frozen=True):
    since: int = 0
    why: str = ""
    tables: tuple[str, ...] = ()


class HeartbeatRecord(msgspec.Struct, frozen=True):
    at: int
    behind: TablesBehind = TablesBehind()


class Gap(msgspec.Struct, frozen=True):
    reason: str
    messages: int
    keys: tuple[str, ...]
    since: int


class Gaps(msgspec.Struct, frozen=True):
    topics: Mapping[str, tuple[Gap, ...]] = {}


class Choices(msgspec.Struct, frozen=True):
    topic: str = ""
    topics: tuple[str, ...] = ()
    sources: Mapping[str, str] = {}
    joins: Mapping[str, str] = {}
    grace_seconds: int | None = None


class RequestedChanges(msgspec.Struct, frozen=True):
    topic_id: str = ""
    next: Mapping[int, int] = {}
    topics: Mapping[str, str] = {}
    types: Mapping[str, JoinType] = {}


class LastNumber(msgspec.Struct, frozen=True):
    highest: int


SHAPES: Mapping[bytes, type[msgspec.Struct]] = {
    b"current": Current,
    b"system": SystemTableTopics,
    b"pulse": HeartbeatRecord,
    b"choices": Choices,
    b"asked": RequestedChanges,
    b"numbered": LastNumber,
    b"gaps": Gaps,
}


def decode(key: bytes, value: bytes) -> msgspec.Struct | None:
    """As that version decoded a record; an error took its gateways down.

    None for a key that it ignored.
    """
    if key.startswith(b"generation:"):
        return msgspec.json.decode(value, type=Generation)
    return msgspec.json.decode(value, type=SHAPES[key]) if key in SHAPES else None
