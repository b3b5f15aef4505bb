"""A source: a Kafka topic with one JSON object per message."""

from __future__ import annotations

import datetime
import enum

import msgspec

from evergrid.model.field_types import FieldType


class Field(msgspec.Struct, frozen=True, omit_defaults=True):
    """A column of the source, and the JSON field it is read from when named otherwise."""

    name: str
    type: FieldType
    json_name: str = ""

    @property
    def from_json(self) -> str:
        return self.json_name or self.name


class TopicEnd(enum.Enum):
    """The two ends of a topic that a source can start from."""

    EARLIEST = "earliest"
    LATEST = "latest"


class StartTime(msgspec.Struct, frozen=True):
    """A moment that a source can start from."""

    time: datetime.datetime


Start = TopicEnd | StartTime


class Source(msgspec.Struct, frozen=True):
    """Where rows come from, what they look like, and which table shows them.

    `time_field` empty means that a message's time is its Kafka timestamp.
    """

    name: str
    topic: str
    table: str
    fields: tuple[Field, ...]
    key: str
    time_field: str = ""
    start: Start = TopicEnd.EARLIEST

    def field(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)
