"""What to do with what was found at the start. Pure: values in, a decision out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.changelog.manifest import Manifest
from evergrid.config.settings import Settings
from evergrid.kafka.topics import TopicInfo
from evergrid.model.generation import Generation, State
from evergrid.model.source import Source


class Resume(msgspec.Struct, frozen=True):
    """Go on with this generation from its checkpoint."""

    generation: Generation


class Begin(msgspec.Struct, frozen=True):
    """Make a generation with this number; `reason` says why the old one cannot go on."""

    number: int
    reason: str


Decision = Resume | Begin


def decide(
    settings: Settings,
    manifest: Manifest,
    found: Mapping[str, TopicInfo],
    checkpoints: bool,
) -> Decision:
    """Resume the current generation if it is what the settings ask for and all of it is there.

    `found` are the source topics as they are now; `checkpoints` is whether the current
    generation's checkpoints exist.
    """
    following = max(manifest.generations, default=0) + 1
    current = manifest.current_generation
    if current is None:
        return Begin(following, "")
    reason = why_not(settings, current, found, checkpoints)
    return Begin(following, reason) if reason else Resume(current)


def why_not(
    settings: Settings,
    current: Generation,
    found: Mapping[str, TopicInfo],
    checkpoints: bool,
) -> str:
    """Why `current` cannot go on; empty when it can."""
    if current.state is not State.CURRENT:
        return f"generation {current.number} ended as {current.state.value}"
    if current.sources != settings.sources or current.joins != settings.joins:
        return "the configuration has other sources or joins"
    if not checkpoints:
        return f"the checkpoint of generation {current.number} is missing"
    return changed_topic(current, found)


def changed_topic(current: Generation, found: Mapping[str, TopicInfo]) -> str:
    """Which source topic is not the one that the generation read; empty when all are."""
    for name, source in current.sources.items():
        info = found.get(source.topic)
        if info is not None and info.topic_id != current.topics[name].topic_id:
            return f"topic {source.topic} was deleted and made anew"
    return ""


def missing_topics(sources: Mapping[str, Source], found: Mapping[str, TopicInfo]) -> list[str]:
    """Source topics that do not exist."""
    return sorted(source.topic for source in sources.values() if source.topic not in found)


def grown_topics(
    current: Generation, found: Mapping[str, TopicInfo], known: Mapping[str, int]
) -> list[str]:
    """Source topics with more partitions than the running queries read."""
    return sorted(
        source.topic
        for source in current.sources.values()
        if source.topic in found and found[source.topic].partitions > known[source.topic]
    )
