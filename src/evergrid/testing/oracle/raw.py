"""The tables that show messages one by one: a source's rows, and quarantine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evergrid.testing.oracle.message import Bad, Message, Row, Table
from evergrid.testing.oracle.message_rows import read
from evergrid.testing.oracle.spec import LimitsSpec, SourceSpec


class Readings:
    """Reads each message once, however many tables it is asked for."""

    def __init__(self, limits: LimitsSpec | None = None) -> None:
        self._limits = limits or LimitsSpec()
        self._known: list[tuple[SourceSpec, dict[Message, Row | Bad]]] = []

    def of(self, messages: Iterable[Message], source: SourceSpec) -> list[Row | Bad]:
        """What each message of the source's topic is, in the messages' order."""
        known = self._of_source(source)
        readings = []
        for message in messages:
            if message.topic == source.topic:
                reading = known.get(message)
                if reading is None:
                    reading = known[message] = read(message, source, self._limits)
                readings.append(reading)
        return readings

    def rows(self, messages: Iterable[Message], source: SourceSpec) -> list[Row]:
        """The rows among `messages`, bad ones and other topics' left out."""
        return [one for one in self.of(messages, source) if isinstance(one, Row)]

    def _of_source(self, source: SourceSpec) -> dict[Message, Row | Bad]:
        for same, known in self._known:
            if same == source:
                return known
        self._known.append((source, {}))
        return self._known[-1][1]


def rows(messages: Iterable[Message], source: SourceSpec, limits: LimitsSpec) -> list[Row]:
    """The rows among `messages`, bad ones and other topics' left out."""
    return Readings(limits).rows(messages, source)


def raw(
    messages: Iterable[Message],
    source: SourceSpec,
    limits: LimitsSpec | None = None,
    readings: Readings | None = None,
) -> Table:
    """The source's table: one row for each message that can be one."""
    return {
        f"{row.message.partition}:{row.message.offset}": {
            **row.values,
            "ts": row.ts,
            "_partition": row.message.partition,
            "_offset": row.message.offset,
            "_unknown_fields": row.unknown_fields,
        }
        for row in (readings or Readings(limits)).rows(messages, source)
    }


def quarantine(
    messages: Iterable[Message],
    sources: Mapping[str, SourceSpec],
    limits: LimitsSpec | None = None,
    readings: Readings | None = None,
) -> Table:
    """The quarantine table: one row for each message of a source that could not be one."""
    every = list(messages)
    readings = readings or Readings(limits)
    return {
        f"{bad.message.topic}:{bad.message.partition}:{bad.message.offset}": {
            "topic": bad.message.topic,
            "reason": bad.reason,
            "text": bad.text,
            "ts": bad.message.timestamp_ms * 1000,
            "_partition": bad.message.partition,
            "_offset": bad.message.offset,
        }
        for source in sources.values()
        for bad in readings.of(every, source)
        if isinstance(bad, Bad)
    }
