"""How long a new pipeline needs for a past that is already on its topics."""

from __future__ import annotations

import time
from functools import partial

from bench.figure import Bench, Cases, Value
from bench.screen import say
from bench.stage import GENERATION, PREFIX, Stage, open_stage
from bench.usage import Usage, usage
from evergrid.changelog.reader import load_manifest
from evergrid.model.errors import LinkError
from evergrid.model.join import JoinType

_FULL = (100_000, 1_000_000, 20_000)
_QUICK = (10_000, 100_000, 2_000)
_LIMIT_SECONDS = 900.0
_LOOK_SECONDS = 0.25


def cases(quick: bool) -> Cases:
    size = _QUICK if quick else _FULL
    return {
        f"{join.value}, {size[0] + size[1]:,} messages": partial(_measure, join, *size)
        for join in ((JoinType.LEFT,) if quick else (JoinType.ASOF, JoinType.LEFT))
    }


def _measure(join: JoinType, users: int, accounts: int, keys: int) -> tuple[Value, ...]:
    expected = accounts if join is JoinType.ASOF else users
    with open_stage() as stage:
        say(f"  {users + accounts:,} messages of the past")
        stage.fill(users, accounts, keys)
        say("  starting the pipeline")
        began = time.time()
        stage.start(join)
        visible = _all_rows(stage, expected)
        stage.wait_until_live()
        used = usage(stage.java())
        if stage.changes() != expected:
            raise LinkError(f"{stage.changes():,} rows came where {expected:,} were due")
        stage.check()
        each = stage.changes() / expected
        return (
            *_values(stage, began, visible, users + accounts, used),
            Value("changes per row", each, digits=2),
        )


def _values(
    stage: Stage, began: float, visible: float, messages: int, used: Usage
) -> tuple[Value, ...]:
    query, current = _query_start(stage), _current(stage)
    return (
        Value("process to query", query - began, "s", digits=1),
        Value("query to all rows", visible - query, "s", digits=1),
        Value("query to current", current - query, "s", digits=1),
        Value("process to current", current - began, "s", digits=1),
        Value("messages until all rows", messages / (visible - query), "/s"),
        Value("messages until current", messages / (current - query), "/s"),
        Value("Spark CPU", used.cpu_seconds, "s", digits=1),
        Value("Java peak memory", used.peak_bytes / 1024**2, "MB"),
    )


def _all_rows(stage: Stage, expected: int) -> float:
    """The moment at which the joined table's changelog holds all rows."""
    # Before that the changelog may not be there yet, or not have a leader.
    stage.pipeline.wait_for_words("catching up", _LIMIT_SECONDS)
    stage.wait_for_changes(expected, _LIMIT_SECONDS)
    return time.time()


def _query_start(stage: Stage) -> float:
    """The first thing that a query does is to write its id into its checkpoint."""
    folder = stage.data / "generations" / f"g{GENERATION}" / "join-final"
    return (folder / "metadata").stat().st_mtime


def _current(stage: Stage) -> float:
    generation = load_manifest(stage.connection, PREFIX).current_generation
    if generation is None:
        raise LinkError("the manifest names no current generation")
    return generation.times.current / 1e6


BENCH = Bench(
    "history",
    "A past that is already there",
    "All messages are on the topics, a day old, when `evergrid pipeline` starts. The query starts "
    "when the join's checkpoint is made, which is when Spark is up. All rows: the changelog of "
    "`final_ui` holds every joined row. Current: the raw tables are written too and screens may "
    "switch. CPU and memory are those of Spark's Java process since it started.",
    cases,
)
