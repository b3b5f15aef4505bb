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
    """The end of a topic from which a source is read."""

    EARLIEST = "earliest"
    LATEST = "latest"


class StartTime(msgspec.Struct, frozen=True):
    """A time from which a source is read."""

    time: datetime.datetime


Start = TopicEnd | StartTime


class Source(msgspec.Struct, frozen=True):
    """A topic, the fields of its messages, and the table that shows them.

    If `time_field` is empty, a message's time is its Kafka timestamp.
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
