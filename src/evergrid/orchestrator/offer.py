"""What may be asked for, kept up to date in the manifest for everybody who might ask."""

from __future__ import annotations

import time

from evergrid.changelog.control_message import why_not_allowed
from evergrid.changelog.manifest import Choices
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.model.control import topic_words, type_words
from evergrid.orchestrator.registry import Registry

_LOOK_SECONDS = 30.0
_MOST_TOPICS = 1000


class Offer:
    """Lists the topics that exist and may be named, now and then."""

    def __init__(self, settings: Settings, registry: Registry) -> None:
        self._settings = settings
        self._registry = registry
        self._look_at = 0.0

    def turn(self) -> None:
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + _LOOK_SECONDS
        settings = self._settings
        there = topics.partitions(settings.kafka.source)
        allowed = sorted(name for name in there if not why_not_allowed(settings, name))
        self._registry.offer(
            Choices(
                topic=settings.control.topic,
                topics=tuple(allowed[:_MOST_TOPICS]),
                sources=topic_words(settings.sources),
                joins=type_words(settings.joins),
                grace_seconds=settings.control.grace_seconds,
            )
        )
