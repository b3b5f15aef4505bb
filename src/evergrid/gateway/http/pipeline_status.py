"""The pipeline as one key may see it: generations with their sources, joins and tables.

What a key may not read, it is not told of: neither table nor source, nor the words of an
error that could name them.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evergrid.changelog.manifest import Choices
from evergrid.gateway.access.access_key import Key
from evergrid.gateway.engine.pipeline_health import RUNS, Health, PipelineInfo
from evergrid.model.generation import Generation, Progress, State
from evergrid.model.join import JoinType

HIDDEN_DELAY = "Some tables are behind."
HIDDEN_ERROR = "Something is wrong with it; a key that may read all its tables is told what."


class SourceShown(msgspec.Struct, frozen=True):
    name: str
    topic: str
    table: str


class JoinShown(msgspec.Struct, frozen=True):
    """`left` and `right` are sources; empty for one that the key may not read."""

    name: str
    type: JoinType
    table: str
    left: str
    right: str


class GenerationShown(msgspec.Struct, frozen=True):
    """Times in microseconds since the epoch; `changed` is when it came into its state.

    `kept_until` is when one that was replaced goes at the latest; 0: no such time.
    """

    generation: int
    state: State
    created: int
    changed: int
    kept_until: int
    progress: Progress | None
    error: str
    sources: Sequence[SourceShown]
    joins: Sequence[JoinShown]
    tables: Sequence[str]


class PipelineShown(msgspec.Struct, frozen=True):
    """`beat` is its last sign of life, `current` the generation on screens; 0: none."""

    state: Health
    message: str
    beat: int
    current: int
    generations: Sequence[GenerationShown]


class PipelineAnswer(msgspec.Struct, frozen=True):
    pipeline: PipelineShown


def shown_to(key: Key, info: PipelineInfo) -> PipelineAnswer:
    """The newest generation first."""
    manifest = info.manifest
    health, message = _health(key, info)
    newest_first = sorted(manifest.generations.values(), key=lambda one: -one.number)
    return PipelineAnswer(
        PipelineShown(
            state=health,
            message=message,
            beat=manifest.pulse,
            current=manifest.current or 0,
            generations=[_generation(key, one, manifest.choices) for one in newest_first],
        )
    )


def _health(key: Key, info: PipelineInfo) -> tuple[Health, str]:
    """The pipeline is behind for those who may read a table that is."""
    tables = info.manifest.behind.tables
    if info.health is not Health.BEHIND or all(map(key.may_read, tables)):
        return info.health, info.message
    if any(map(key.may_read, tables)):
        return info.health, HIDDEN_DELAY
    return Health.LIVE, RUNS


def _generation(key: Key, one: Generation, choices: Choices) -> GenerationShown:
    sources = {name: s for name, s in one.sources.items() if key.may_read(s.table)}
    joins = [join for join in one.joins.values() if key.may_read(join.table)]
    tables = [name for name in one.tables if key.may_read(name)]
    whole = (len(sources), len(joins), len(tables)) == (
        len(one.sources),
        len(one.joins),
        len(one.tables),
    )
    hidden = HIDDEN_ERROR if one.error else ""
    times = one.times
    return GenerationShown(
        generation=one.number,
        state=one.state,
        created=times.created,
        changed=max(times.created, times.ready, times.current, times.ended),
        kept_until=_kept_until(one, choices.grace_seconds),
        progress=one.progress if whole else None,
        error=one.error if whole else hidden,
        sources=[
            SourceShown(source.name, source.topic, source.table) for source in sources.values()
        ],
        joins=[
            JoinShown(
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
