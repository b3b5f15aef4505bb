"""The tables that show messages one by one: a source's rows, and quarantine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evergrid.testing.oracle.message import Bad, Message, Row, Table
from evergrid.testing.oracle.reading import read
from evergrid.testing.oracle.spec import LimitsSpec, SourceSpec


def rows(messages: Iterable[Message], source: SourceSpec, limits: LimitsSpec) -> list[Row]:
    """The rows among `messages`, bad ones and other topics' left out."""
    readings = [read(message, source, limits) for message in messages if _of(message, source)]
    return [reading for reading in readings if isinstance(reading, Row)]


def raw(messages: Iterable[Message], source: SourceSpec, limits: LimitsSpec | None = None) -> Table:
    """The source's table: one row for each message that can be one."""
    return {
        f"{row.message.partition}:{row.message.offset}": {
            **row.values,
            "ts": row.ts,
            "_partition": row.message.partition,
            "_offset": row.message.offset,
            "_unknown_fields": row.unknown_fields,
        }
        for row in rows(messages, source, limits or LimitsSpec())
    }


def quarantine(
    messages: Iterable[Message],
    sources: Mapping[str, SourceSpec],
    limits: LimitsSpec | None = None,
) -> Table:
    """The quarantine table: one row for each message of a source that could not be one."""
    table: Table = {}
    for message in messages:
        for source in sources.values():
            if not _of(message, source):
                continue
            reading = read(message, source, limits or LimitsSpec())
            if isinstance(reading, Bad):
                table[f"{message.topic}:{message.partition}:{message.offset}"] = {
                    "topic": message.topic,
                    "reason": reading.reason,
                    "text": reading.text,
                    "ts": message.timestamp_ms * 1000,
                    "_partition": message.partition,
                    "_offset": message.offset,
                }
    return table


def _of(message: Message, source: SourceSpec) -> bool:
    return message.topic == source.topic
