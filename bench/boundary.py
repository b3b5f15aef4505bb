"""What the end of a batch adds: Spark then commits, and nothing comes for a moment."""

from __future__ import annotations

from pathlib import Path

from bench.arithmetic import longest_gap, percentile
from bench.figure import Bench, Cases, Value
from bench.latency import Plan, Stream, milliseconds, stream
from bench.stage import GENERATION, LARGE, live_stage
from evergrid.model.errors import LinkError
from evergrid.model.join import JoinType

_FULL = Plan(keys=2_000, warm_seconds=90, seconds=75)
_QUICK = Plan(keys=300, warm_seconds=5, seconds=16)
_FULL_BATCH, _QUICK_BATCH = 30, 10
_NEAR_US = 3_000_000  # a boundary's pause begins before its commit and ends after it


def cases(quick: bool) -> Cases:
    plan, batch = (_QUICK, _QUICK_BATCH) if quick else (_FULL, _FULL_BATCH)
    return {f"asof, {LARGE}, batches of {batch} s": lambda: _measure(plan, batch)}


def _measure(plan: Plan, batch_seconds: int) -> tuple[Value, ...]:
    with live_stage(JoinType.ASOF, LARGE, plan.keys, batch_seconds) as stage:
        seen = stream(stage, plan)
        commits = _commits(stage.data / "generations" / f"g{GENERATION}" / "join-final")
    return compare(seen, commits)


def compare(seen: Stream, commits: list[int]) -> tuple[Value, ...]:
    """Changes that came around a commit against those that came between."""
    first, last = min(seen.arrived_us), max(seen.arrived_us)
    inside = [commit for commit in commits if first + _NEAR_US < commit < last - _NEAR_US]
    if not inside:
        raise LinkError("no batch ended while changes were measured")
    near: list[int] = []
    between: list[int] = []
    gaps = []
    for arrived, age in zip(seen.arrived_us, seen.age_us, strict=True):
        close = any(abs(arrived - commit) <= _NEAR_US for commit in inside)
        (near if close else between).append(age)
    for commit in inside:
        gaps.append(longest_gap(t for t in seen.arrived_us if abs(t - commit) <= _NEAR_US))
    between.sort()
    return (
        Value("boundaries", len(inside)),
        milliseconds("longest silence at a boundary", max(gaps)),
        milliseconds("max at a boundary", max(near)),
        milliseconds("p50 between", percentile(between, 0.50)),
        milliseconds("p99 between", percentile(between, 0.99)),
        milliseconds("max between", between[-1]),
        *seen.counts(),
    )


def _commits(checkpoint: Path) -> list[int]:
    """When each batch was committed, in microseconds: Spark writes one file for each."""
    files = (checkpoint / "commits").iterdir()
    return sorted(file.stat().st_mtime_ns // 1000 for file in files if file.name.isdigit())


BENCH = Bench(
    "boundary",
    "What the end of a batch adds",
    "The same stream through an as-of join with short batches (`spark.batch`), so that several "
    "end while it is measured. Changes that came within 3 seconds of a commit are set against "
    "those that came between. With the default of 5 minutes there is one such pause in 5 minutes.",
    cases,
)
