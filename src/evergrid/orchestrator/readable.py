"""Whether a topic that was named holds what its source is meant to be made of."""

from __future__ import annotations

from evergrid.changelog.names import system_topic
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.model.errors import ConfigError
from evergrid.model.generation import Generation
from evergrid.model.source import Edge, Source


class Readable:
    """Made before a generation's history is read, asked afterwards.

    Of topics that the generation before reads too, whatever they hold is right: they are on
    screens already. Without one before, the configuration is taken at its word.
    """

    def __init__(self, settings: Settings, before: Generation | None) -> None:
        self._settings = settings
        known = {source.topic for source in before.sources.values()} if before else None
        self._new = [
            source
            for source in settings.sources.values()
            if known is not None and source.topic not in known
        ]
        self._bad_before = self._bad() if self._new else 0

    def check(self, generation: Generation) -> None:
        """ConfigError when not one message of a new topic could be read, and many were there."""
        for source in self._new:
            messages = _history(generation, source)
            target = generation.tables[source.table]
            ends = topics.offsets(self._settings.kafka.internal, target.topic, Edge.LATEST)
            most = self._settings.quarantine().retention.rows
            expected = messages if most is None else min(messages, most)
            if messages and not sum(ends.values()) and self._bad() - self._bad_before >= expected:
                raise ConfigError(
                    f"none of the {messages:,} messages of topic {source.topic} can be read as "
                    f"{source.name}",
                    where=f"Kafka at {self._settings.kafka.source.bootstrap}",
                    remedy="The quarantine table says why of each. Name another topic, or send "
                    "the message again when that one is mended.",
                )

    def _bad(self) -> int:
        prefix = self._settings.internal_topics.prefix
        topic = system_topic(prefix, self._settings.system_tables.quarantine)
        return sum(topics.offsets(self._settings.kafka.internal, topic, Edge.LATEST).values())


def _history(generation: Generation, source: Source) -> int:
    topic = generation.topics[source.name]
    return sum(end - topic.start.get(partition, 0) for partition, end in topic.live.items())
