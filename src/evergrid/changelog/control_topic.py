"""Sends control messages to their topic."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.changelog.control_message import BY_HEADER, read_request
from evergrid.changelog.internal_topics import control_spec
from evergrid.changelog.manifest import Manifest
from evergrid.config.settings import Settings
from evergrid.kafka import clients, topics
from evergrid.kafka.cluster_probe import reach
from evergrid.kafka.message_sender import Sender, SentPosition
from evergrid.model.control_request import Request
from evergrid.model.errors import BrokenPromise

_REACH_SECONDS = 3.0
_FLUSH_SECONDS = 8.0
# Shorter than the flush, so that nothing arrives after the flush has timed out.
_PRODUCER: Mapping[str, clients.Value] = {"delivery.timeout.ms": 5_000}


class ControlTopic:
    """The topic from which the pipeline reads control messages.

    The manifest of the running pipeline takes precedence over this configuration, which may be
    that of a machine with other settings than the pipeline's.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def name(self, manifest: Manifest) -> str:
        return manifest.choices.topic or self._settings.control.topic

    def read(self, value: bytes, manifest: Manifest) -> Request:
        """The request in a message; DataError with the reason if it is invalid."""
        return read_request(value, running_settings(self._settings, manifest))

    def send(self, value: bytes, by: str, manifest: Manifest) -> SentPosition:
        """Send the message; returns its position. LinkError within seconds if Kafka fails.

        1. Connect to the broker first, so that an outage or a wrong password is reported soon.
        2. Create the topic if it is missing. Auto-creation by the broker could give it several
           partitions, and the order of messages matters.
        3. Send, and wait for the broker's acknowledgement.
        """
        connection = self._settings.kafka.control
        topic = self.name(manifest)
        if topic not in reach(connection, _REACH_SECONDS).topics:
            topics.create(connection, [control_spec(topic, self._settings.internal_topics)])
        sent: list[SentPosition | None] = []
        sender = Sender(connection, **_PRODUCER)
        sender.send(topic, value, headers={BY_HEADER: by}, sent=sent)
        sender.flush(_FLUSH_SECONDS)
        (position,) = sent
        if position is None:
            raise BrokenPromise(f"message to {topic} was flushed and has no offset")
        return position


def running_settings(settings: Settings, manifest: Manifest) -> Settings:
    """`settings` with the sources and joins of the running pipeline.

    Topics that the pipeline lists are allowed in addition to those that match the patterns here.
    The pipeline checks each message again, with its own patterns.
    """
    current = manifest.current_generation
    if current is None:
        return settings
    allow = (*settings.control.allow, *manifest.choices.topics)
    control = msgspec.structs.replace(settings.control, allow=allow)
    return msgspec.structs.replace(
        settings, control=control, sources=current.sources, joins=current.joins
    )
