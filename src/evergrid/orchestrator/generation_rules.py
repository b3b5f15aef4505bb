"""Rules for which generations continue, are kept, shared or removed. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from evergrid.changelog.internal_topics import generation_of
from evergrid.changelog.manifest import Manifest
from evergrid.config.settings import Control, Settings
from evergrid.kafka.topics import TopicInfo
from evergrid.model.generation import ENGINE, Generation, State
from evergrid.model.source import Source
from evergrid.pipeline.plan import QueryId, queries_of

_MOST_FAILED = 5  # whose errors stay to be read

_LIVE = (State.PREPARING, State.READY, State.CURRENT, State.RETIRING)


def is_of(generation: Generation, settings: Settings) -> bool:
    """Whether the generation was made for these settings."""
    tables = {one.name: one for one in settings.generation_tables()}
    return (
        generation.sources == settings.sources
        and generation.joins == settings.joins
        and {name: one.table for name, one in generation.tables.items()} == tables
    )


def why_not(generation: Generation, found: Mapping[str, TopicInfo], checkpoints: bool) -> str:
    """Why a generation cannot continue from its checkpoint; empty if it can.

    `found` are the source topics as they are now; `checkpoints` is whether its own exist.
    """
    if generation.state not in (State.READY, State.CURRENT, State.RETIRING):
        return f"generation {generation.number} ended as {generation.state.value}"
    if generation.engine != ENGINE:
        return (
            f"generation {generation.number} was made by an earlier version of Evergrid, whose "
            "checkpoints this one cannot go on from"
        )
    if not checkpoints:
        return f"the checkpoint of generation {generation.number} is missing"
    return changed_topic(generation, found)


def shared_with(
    settings: Settings, source: Source, topic_id: str, others: Iterable[Generation]
) -> Generation | None:
    """A generation whose raw table of the same source can be shared; the current one first.

    Raw tables of a generation that could not continue are not shared: their checkpoints may be
    the reason.
    """
    others = list(others)
    lost = {
        one.topics[source.name].raw
        for one in others
        if one.state is State.FAILED and one.times.current and source.name in one.topics
    }
    table = next(one for one in settings.raw_tables() if one.name == source.table)
    fitting = [
        one
        for one in others
        if one.state in _LIVE
        and one.times.ready
        and one.engine == ENGINE
        and one.sources.get(source.name) == source
        and one.topics[source.name].topic_id == topic_id
        and one.topics[source.name].raw not in lost
        and one.tables[source.table].table == table
    ]
    return max(fitting, key=lambda one: (one.state is State.CURRENT, one.number), default=None)


def needed_queries(manifest: Manifest, without: int | None = None) -> set[QueryId]:
    """The queries whose checkpoints generations need, `without` one that is removed."""
    return {query for one in _needed(manifest, without) for query in queries_of(one)}


def needed_topics(manifest: Manifest, without: int | None = None) -> set[str]:
    """The changelogs that generations need, `without` one that is removed."""
    needed = _needed(manifest, without)
    return {table.topic for one in needed for table in one.tables.values()}


def _needed(manifest: Manifest, without: int | None) -> list[Generation]:
    """The current generation is needed even if it has failed."""
    return [
        one
        for number, one in manifest.generations.items()
        if number != without and (one.state in _LIVE or number == manifest.current)
    ]


def may_be_needed(manifest: Manifest, number: int | None) -> bool:
    """Whether a generation whose record cannot be read may need what generation `number` made: its
    own topics and checkpoints, and those of earlier ones that it shares."""
    return number is not None and number <= manifest.last_unreadable


def kept_for(manifest: Manifest, settings: Settings) -> list[Generation]:
    """Replaced generations with the wanted settings, the newest first."""
    kept = [
        one
        for one in manifest.generations.values()
        if one.state is State.RETIRING and is_of(one, settings)
    ]
    return sorted(kept, key=lambda one: -one.number)


def interrupted(manifest: Manifest) -> tuple[list[Generation], list[Generation]]:
    """Generations that a killed pipeline left: incomplete ones, and complete ones that were not
    current."""
    others = [one for number, one in manifest.generations.items() if number != manifest.current]
    # One that is prepared again, because people go back to it, was complete before.
    again = [one for one in others if one.state is State.PREPARING and one.times.ready]
    half = [one for one in others if one.state in (State.PREPARING, State.GONE)]
    whole = [one for one in others if one.state in (State.READY, State.CURRENT)]
    return [one for one in half if one not in again], [*whole, *again]


def overdue(
    manifest: Manifest, control: Control, now: int, coming: bool = False
) -> list[Generation]:
    """Replaced generations beyond their grace time or number, the oldest first.

    `coming`: room for one more is needed.
    """
    kept = sorted(
        (one for one in manifest.generations.values() if one.state is State.RETIRING),
        key=lambda one: (one.times.ended, one.number),
    )
    live = sum(one.state in _LIVE for one in manifest.generations.values()) + coming
    most = max(0, live - control.generations)
    grace = control.grace_seconds
    return [
        one
        for index, one in enumerate(kept)
        if index < most or (grace is not None and now >= one.times.ended + grace * 1_000_000)
    ]


def made_good(manifest: Manifest) -> list[Generation]:
    """Failed generations whose errors are outdated: another became current since, or many have
    failed after them."""
    current = manifest.current_generation
    since = current.times.current if current else 0
    all_failed = failed(manifest)
    return [one for one in all_failed if one.times.ended < since] + [
        one for one in all_failed[:-_MOST_FAILED] if one.times.ended >= since
    ]


def failed(manifest: Manifest) -> list[Generation]:
    """Those of which nothing but the error is of use; screens may still show the current one."""
    found = [
        one
        for number, one in manifest.generations.items()
        if one.state is State.FAILED and number != manifest.current
    ]
    return sorted(found, key=lambda one: one.number)


def orphans(names: Iterable[str], prefix: str, manifest: Manifest, busy: int | None) -> list[str]:
    """Changelogs that the manifest does not have, because the pipeline was killed before it was
    written.

    `busy` is the number of a generation that is being prepared.
    """
    known = {table.topic for one in manifest.generations.values() for table in one.tables.values()}
    found = []
    for name in names:
        number = generation_of(prefix, name)
        if number is None or name in known or may_be_needed(manifest, number):
            continue
        if busy != number <= manifest.highest:
            found.append(name)
    return sorted(found)


def changed_topic(generation: Generation, found: Mapping[str, TopicInfo]) -> str:
    """The source topic that was replaced since the generation began; empty if none was."""
    for name, source in generation.sources.items():
        info = found.get(source.topic)
        if info is not None and info.topic_id != generation.topics[name].topic_id:
            return f"topic {source.topic} was deleted and made anew"
    return ""


def missing_topics(sources: Mapping[str, Source], found: Iterable[str]) -> list[str]:
    """Source topics that do not exist."""
    there = set(found)
    return sorted(source.topic for source in sources.values() if source.topic not in there)


def grown_topics(
    current: Generation, found: Mapping[str, TopicInfo], known: Mapping[str, int]
) -> list[str]:
    """Source topics with more partitions than the running queries read, as far as that is known."""
    return sorted(
        source.topic
        for source in current.sources.values()
        if source.topic in found
        and found[source.topic].partitions > known.get(source.topic, math.inf)
    )
