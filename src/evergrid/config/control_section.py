"""The `control` section: which messages may change the pipeline, and what they leave behind."""

from __future__ import annotations

from collections.abc import Iterable

from evergrid.config.lists import listed
from evergrid.config.section import Section
from evergrid.config.settings import Control
from evergrid.config.values import AGE, TOPIC, TOPIC_PATTERN, duration, whole

# What follows a topic's name in the names of its later versions.
_VERSION = "[._-]*"


def read_control(section: Section, topics: Iterable[str], prefix: str) -> Control:
    """`topics` are the sources'; `prefix` is that of Evergrid's own topics.

    Without a list of allowed topics, the sources' own and those that are called like a later
    version of them may be asked for.
    """
    sources = tuple(dict.fromkeys(topics))
    topic = section.value("topic", TOPIC)
    if topic in sources or (prefix and topic.startswith(f"{prefix}.")):
        owner = "a source's topic" if topic in sources else f"one of Evergrid's own ({prefix}.*)"
        section.report(f"found '{topic}', {owner}", "Name a topic of its own.", "topic")
    versions = tuple(name + ending for name in sources for ending in ("", _VERSION))
    return Control(
        topic=topic,
        allow=listed(section, "allow", TOPIC_PATTERN) if "allow" in section else versions,
        grace_seconds=section.value("grace", AGE),
        drain_seconds=section.value("drain", duration(1, 3600, "10s")),
        generations=section.value("generations", whole(2, 20)),
    )
