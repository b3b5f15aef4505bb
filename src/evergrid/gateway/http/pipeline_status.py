"""The status of the pipeline for one key: generations with their sources, joins and tables.

A key does not learn of tables and sources that it may not read, nor of errors whose text could
name them.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evergrid.changelog.manifest import Choices
from evergrid.gateway.access.access_key import AccessKey
from evergrid.gateway.engine.table_engine import PIPELINE_RUNS, PipelineHealth, PipelineInfo
from evergrid.model.generation import Generation, Progress, State
from evergrid.model.join import JoinType

HIDDEN_DELAY = "Some tables are behind."
HIDDEN_ERROR = "There is an error; only a key that may read all its tables sees the text."


class SourceStatus(msgspec.Struct, frozen=True):
    name: str
    topic: str
    table: str


class JoinStatus(msgspec.Struct, frozen=True):
    """`left` and `right` are sources; empty if the key may not read them."""

    name: str
    type: JoinType
    table: str
    left: str
    right: str


class GenerationStatus(msgspec.Struct, frozen=True):
    """Times in microseconds since the epoch; `changed` is when it entered its state.

    `kept_until` is when a replaced generation is deleted at the latest; 0: not set.
    """

    generation: int
    state: State
    created: int
    changed: int
    kept_until: int
    progress: Progress | None
    error: str
    sources: Sequence[SourceStatus]
    joins: Sequence[JoinStatus]
    tables: Sequence[str]


class PipelineStatus(msgspec.Struct, frozen=True):
    """`beat` is the time of its last heartbeat, `current` the generation shown; 0: none."""

    state: PipelineHealth
    message: str
    beat: int
    current: int
    generations: Sequence[GenerationStatus]


class PipelineResponse(msgspec.Struct, frozen=True):
    pipeline: PipelineStatus


def shown_to(key: AccessKey, info: PipelineInfo) -> PipelineResponse:
    """The pipeline's status for this key, the newest generation first."""
    manifest = info.manifest
    health, message = _health(key, info)
    newest_first = sorted(manifest.generations.values(), key=lambda one: -one.number)
    return PipelineResponse(
        PipelineStatus(
            state=health,
            message=message,
            beat=manifest.heartbeat,
            current=manifest.current or 0,
            generations=[_generation(key, one, manifest.choices) for one in newest_first],
        )
    )


def _health(key: AccessKey, info: PipelineInfo) -> tuple[PipelineHealth, str]:
    """`behind` is reported only to keys that may read a table that is behind."""
    tables = info.manifest.behind.tables
    if info.health is not PipelineHealth.BEHIND or all(map(key.may_read, tables)):
        return info.health, info.message
    if any(map(key.may_read, tables)):
        return info.health, HIDDEN_DELAY
    return PipelineHealth.LIVE, PIPELINE_RUNS


def _generation(key: AccessKey, one: Generation, choices: Choices) -> GenerationStatus:
    sources = {name: s for name, s in one.sources.items() if key.may_read(s.table)}
    joins = [join for join in one.joins.values() if key.may_read(join.table)]
    tables = [name for name in one.tables if key.may_read(name)]
    parts = (sources, one.sources), (joins, one.joins), (tables, one.tables)
    whole = all(len(shown) == len(there) for shown, there in parts)
    hidden = HIDDEN_ERROR if one.error else ""
    times = one.times
    return GenerationStatus(
        generation=one.number,
        state=one.state,
        created=times.created,
        changed=max(times.created, times.ready, times.current, times.ended),
        kept_until=_kept_until(one, choices.grace_seconds),
        progress=one.progress if whole else None,
        error=one.error if whole else hidden,
        sources=[
            SourceStatus(source.name, source.topic, source.table) for source in sources.values()
        ],
        joins=[
            JoinStatus(
                name=join.name,
                type=join.type,
                table=join.table,
                left=join.left if join.left in sources else "",
                right=join.right if join.right in sources else "",
            )
            for join in joins
        ],
        tables=tables,
    )


def _kept_until(one: Generation, grace_seconds: int | None) -> int:
    if one.state is not State.RETIRING or grace_seconds is None:
        return 0
    return one.times.ended + grace_seconds * 1_000_000
