"""The control topic: read from its first message on, for as long as the pipeline runs."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence

import msgspec

from evergrid.changelog.control_message import BY_HEADER
from evergrid.changelog.internal_topics import control_spec
from evergrid.changelog.manifest import RequestedChanges
from evergrid.changelog.reader import Record, TopicReader, read_up_to
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.client_renewal import ClientRenewal
from evergrid.kafka.cluster_probe import reach
from evergrid.kafka.topics import TopicInfo
from evergrid.model.errors import ConfigError, EvergridError, LinkError
from evergrid.model.source import TopicEnd

_LOOK_SECONDS = 10.0
_REACH_SECONDS = 5.0
_LONGEST_NAME = 200


class ControlMessage(msgspec.Struct, frozen=True):
    """One control message; `ts` in microseconds, `by` who sent it, as far as that was said."""

    partition: int
    offset: int
    ts: int
    value: bytes | None
    by: str

    @property
    def row_id(self) -> str:
        return f"{self.partition}:{self.offset}"


class ControlReader:
    """Follows the control topic. A topic that cannot be read is reported once, and tried again."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._connection = settings.kafka.control
        self._name = settings.control.topic
        self._say = say
        self._renewal = ClientRenewal(self._connection, say)
        self._reader: TopicReader | None = None
        self._look_at = 0.0
        self._trouble = ""
        self.topic_id = ""
        self.has_read = False  # all that was there, once

    def open(self, asked: RequestedChanges) -> list[ControlMessage]:
        """Read the messages after the last position: of one partition in their order, of several
        by time."""
        try:
            # One that does not let us in says so at once. One that is slow is waited for, the first
            # time: without what it has, something else would be begun.
            reach(self._connection, _REACH_SECONDS if self._trouble else None)
            info = self._topic()
            starts = topics.offsets(self._connection, self._name, TopicEnd.EARLIEST)
            ends = topics.offsets(self._connection, self._name, TopicEnd.LATEST)
            known = asked.next if asked.topic_id == info.topic_id else {}
            starts = {p: max(at, known.get(p, 0)) for p, at in starts.items()}
            self._reader = self._follow(starts)
            self.topic_id = info.topic_id
            ends = {p: max(end, starts[p]) for p, end in ends.items()}
            batches = read_up_to(self._reader, self._name, ends)
            past = [_message(record) for batch in batches for record in batch]
        except (LinkError, ConfigError) as error:
            self._give_up(error)
            past = []
        else:
            self._note("")
            self.has_read = True
        self._look_at = time.monotonic() + _LOOK_SECONDS
        return in_order(past)

    def read(self, asked: RequestedChanges) -> list[ControlMessage]:
        """The messages that have arrived since the last call."""
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + _LOOK_SECONDS
            if self._reader is None or self._is_another():
                self.close()
                return self.open(asked)
        if self._reader is None:
            return []
        try:
            messages = [_message(record) for record in self._reader.read(0.0)]
        except (LinkError, ConfigError) as error:
            self._give_up(error)
            return []
        self._renew(self._reader)
        return messages

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _renew(self, reader: TopicReader) -> None:
        """Use rotated secrets; no message is read twice or left out."""
        places = {partition: offset for (_, partition), offset in reader.positions().items()}
        renewed = self._renewal.renew(lambda: self._follow(places))
        if renewed is not None:
            reader.close()
            self._reader = renewed

    def _follow(self, starts: dict[int, int]) -> TopicReader:
        return TopicReader(self._connection, {self._name: starts}, headers=True)

    def _give_up(self, error: EvergridError) -> None:
        self.close()
        self._note(f"{error.sentence()} Until then nothing can be changed by messages.")

    def _topic(self) -> TopicInfo:
        """The topic, created if it is missing."""
        found = topics.describe(self._connection, [self._name])
        if self._name not in found:
            own = self._settings.internal_topics
            topics.create(self._connection, [control_spec(self._name, own)])
            found = topics.describe(self._connection, [self._name])
        return found[self._name]

    def _is_another(self) -> bool:
        """Whether the topic was deleted or replaced."""
        try:
            found = topics.describe(self._connection, [self._name]).get(self._name)
        except (LinkError, ConfigError):
            return False  # the reader itself waits for the broker
        return found is None or found.topic_id != self.topic_id

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            self._say(trouble)
        elif self._trouble and not trouble:
            self._say(f"Topic {self._name} can be read again.")
        self._trouble = trouble


def in_order(messages: Sequence[ControlMessage]) -> list[ControlMessage]:
    """Merge the messages of several partitions by time, keeping the order within each."""
    partitions: dict[int, list[ControlMessage]] = {}
    for message in messages:
        partitions.setdefault(message.partition, []).append(message)
    return list(heapq.merge(*partitions.values(), key=lambda one: (one.ts, one.partition)))


def _message(record: Record) -> ControlMessage:
    by = record.headers.get(BY_HEADER, b"").decode(errors="replace")[:_LONGEST_NAME]
    ts = record.timestamp_ms * 1000
    return ControlMessage(record.partition, record.offset, ts, record.value, by)
