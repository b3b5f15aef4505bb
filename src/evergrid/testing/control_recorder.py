"""A control topic without Kafka: records the messages that a gateway sends."""

from __future__ import annotations

import threading

import msgspec

from evergrid.changelog.control_topic import ControlTopic
from evergrid.changelog.manifest import Manifest
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka.message_sender import SentPosition


class RecordedMessage(msgspec.Struct, frozen=True):
    """A control message and who sent it."""

    value: bytes
    by: str


class LocalControl(ControlTopic):
    """Parses messages as the real topic does, and records them; the first is at 0:0."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings or load(None, {}))
        self.handed: list[RecordedMessage] = []
        self._lock = threading.Lock()

    def send(self, value: bytes, by: str, manifest: Manifest) -> SentPosition:
        with self._lock:
            self.handed.append(RecordedMessage(value, by))
            return SentPosition(self.name(manifest), 0, len(self.handed) - 1)
