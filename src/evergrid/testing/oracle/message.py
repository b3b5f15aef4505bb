"""A message as Kafka holds it, and what reading one gives: a row, or a reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Value = str | int | float | bool | None

# A whole table: row id → column → value, as the changelog's JSON shows it.
Table = dict[str, dict[str, Value]]


class JsonText(str):
    """An object or array in a text column: its JSON text, however it is spaced and ordered."""


@dataclass(frozen=True)
class Message:
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True)
class Row:
    """A message that was understood; `ts` is in microseconds since the epoch, UTC."""

    message: Message
    values: Mapping[str, Value]
    ts: int
    unknown_fields: int

    @property
    def position(self) -> tuple[int, int, int]:
        """The only order there is between two messages of one source."""
        return (self.ts, self.message.partition, self.message.offset)


@dataclass(frozen=True)
class Bad:
    """A message for quarantine; `text` is what is shown of it, None for a tombstone."""

    message: Message
    reason: str
    text: str | None
