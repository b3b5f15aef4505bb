"""Asking for another pipeline: a control message on its topic, or a sentence why not."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.changelog.control_message import BY_HEADER, read_request
from evergrid.changelog.internal_topics import control_spec
from evergrid.changelog.manifest import Manifest
from evergrid.config.settings import Settings
from evergrid.kafka import clients, topics
from evergrid.kafka.probe import reach
from evergrid.kafka.sending import Sender, Sent
from evergrid.model.control import Request
from evergrid.model.errors import BrokenPromise

_REACH_SECONDS = 3.0
_FLUSH_SECONDS = 8.0
# Shorter than the flush: when that gives up, nothing is left that could arrive later.
_PRODUCER: Mapping[str, clients.Value] = {"delivery.timeout.ms": 5_000}


class ControlTopic:
    """The topic that the pipeline takes control messages from; every call waits for Kafka alone.

    What the manifest says of the pipeline that runs counts before this configuration, which
    may be of a machine that knows little of the pipeline.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def name(self, manifest: Manifest) -> str:
        return manifest.choices.topic or self._settings.control.topic

    def read(self, value: bytes, manifest: Manifest) -> Request:
        """What a message asks for; DataError with the reason when that cannot be."""
        return read_request(value, as_it_runs(self._settings, manifest))

    def send(self, value: bytes, by: str, manifest: Manifest) -> Sent:
        """Where the message is now; LinkError when Kafka does not take it, within seconds.

        1. Reach the broker, so that one that is down or a wrong password is said soon.
        2. Make the topic where it is missing. Nobody else may: a broker that makes topics by
           itself could give it several partitions, and messages count in their order.
        3. Send, and wait until the broker has it.
        """
        connection = self._settings.kafka.control
        topic = self.name(manifest)
        if topic not in reach(connection, _REACH_SECONDS).topics:
            topics.create(connection, [control_spec(topic, self._settings.internal_topics)])
        sent: list[Sent | None] = []
        sender = Sender(connection, **_PRODUCER)
        sender.send(topic, value, headers={BY_HEADER: by}, sent=sent)
        sender.flush(_FLUSH_SECONDS)
        (place,) = sent
        if place is None:
            raise BrokenPromise(f"a message to {topic} was flushed and has no place")
        return place


def as_it_runs(settings: Settings, manifest: Manifest) -> Settings:
    """`settings` with the sources and joins that run, where those have other names.

    The patterns of allowed topics may be another's too: what the pipeline lists may be asked
    for, beside what these patterns allow. It looks itself, by its own, when it reads a message.
    """
    current = manifest.current_generation
    if current is None:
        return settings
    allow = (*settings.control.allow, *manifest.choices.topics)
    control = msgspec.structs.replace(settings.control, allow=allow)
    settings = msgspec.structs.replace(settings, control=control)
    if (current.sources.keys(), current.joins.keys()) == (
        settings.sources.keys(),
        settings.joins.keys(),
    ):
        return settings
    return msgspec.structs.replace(settings, sources=current.sources, joins=current.joins)
