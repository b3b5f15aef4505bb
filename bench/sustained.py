"""How many messages a second a join works off when more lie ready than it can take."""

from __future__ import annotations

import time
from functools import partial

import msgspec

from bench.arithmetic import at, crossing
from bench.figure import Bench, Cases, Value
from bench.helper import Helper
from bench.load import Backlog, Loaded
from bench.screen import say
from bench.stage import HOT, LARGE, SINGLE, SMALL, Stage, State, changes_per_account, live_stage
from bench.usage import usage
from evergrid.model.errors import LinkError
from evergrid.model.join import JoinType

# Before that messages are still being sent; after that the last rows blur it.
_FROM, _TO = 0.40, 0.95
# Java compiles what runs for each message for more than a minute: only the last lot is measured.
# A larger one would be caught up in micro-batches.
_LOTS = 3
_LOOK_SECONDS = 0.25
_STALL_SECONDS = 60.0
_LOAD_SECONDS = 600.0
_FULL_CHANGES, _QUICK_CHANGES = 1_000_000, 60_000
_FULL_KEYS, _QUICK_KEYS = 4_000, 300
_KEYS = {HOT: 10, SINGLE: 1}
_SETTLE_SECONDS = 1.0
# A join that shows an account in many rows writes many changes for it, which are cheaper than
# as many accounts would be.
_MORE_CHANGES = 4


class Course(msgspec.Struct, frozen=True):
    """What was seen while the backlog shrank: (seconds, changes) and (seconds, CPU seconds)."""

    changes: list[tuple[float, float]]
    cpu: list[tuple[float, float]]


def cases(quick: bool) -> Cases:
    # A left join puts the rows of larger keys together, so how many it writes is not known.
    chosen = [(JoinType.ASOF, LARGE), (JoinType.ASOF, HOT), (JoinType.INNER, SMALL)]
    if not quick:
        chosen += [(JoinType.ASOF, SINGLE), (JoinType.ASOF, SMALL)]
        chosen += [(JoinType.LEFT, SMALL), (JoinType.INNER, LARGE)]
    return {
        f"{join.value}, {state}": partial(_measure, join, state, quick) for join, state in chosen
    }


def _measure(join: JoinType, state: State, quick: bool) -> tuple[Value, ...]:
    each = changes_per_account(join, state)
    changes = _QUICK_CHANGES if quick else _FULL_CHANGES
    accounts = changes if each == 1 else changes * _MORE_CHANGES // each
    keys = _KEYS.get(state, _QUICK_KEYS if quick else _FULL_KEYS)
    with live_stage(join, state, keys) as stage:
        for lot in range(1, _LOTS + 1):
            say(f"  lot {lot} of {_LOTS}: {accounts:,} accounts, {accounts * each:,} changes")
            course = _work_off(stage, Backlog(stage.bootstrap, accounts, keys), each)
        memory = usage(stage.java()).rss_bytes
    return (*rates(course, each), Value("Java memory", memory / 1024**2, "MB"))


def rates(course: Course, each: int) -> tuple[Value, ...]:
    """Speed and price when Java is warm, and before the last of the output."""
    total = course.changes[-1][1]
    begin, end = (crossing(course.changes, share * total) for share in (_FROM, _TO))
    changes = (_TO - _FROM) * total
    cpu = at(course.cpu, end) - at(course.cpu, begin)
    rows = changes / each
    return (
        Value("input", rows / (end - begin), "rows/s"),
        Value("changes", changes / (end - begin), "/s"),
        Value("changes per row", each),
        Value("Spark CPU per 1,000 rows", cpu / rows * 1e6, "ms"),
        Value("cores in use", cpu / (end - begin), digits=2),
    )


def _work_off(stage: Stage, backlog: Backlog, each: int) -> Course:
    """Send the backlog and follow the changelog's end until exactly all changes are there."""
    expected = backlog.count * each
    before = stage.changes()
    with Helper(backlog, Loaded, stage.folder) as load:
        course = _follow(stage, before, expected)
        load.result(_LOAD_SECONDS)
    time.sleep(_SETTLE_SECONDS)
    there = stage.changes() - before
    stage.check()
    if there != expected:
        raise LinkError(f"{there:,} changes came where {expected:,} were due")
    return course


def _follow(stage: Stage, before: int, expected: int) -> Course:
    java = stage.java()
    course = Course([], [])
    start = time.monotonic()
    progress = start
    done = -1
    while done < expected:
        last, done = done, stage.changes() - before
        now = time.monotonic()
        course.changes.append((now - start, done))
        course.cpu.append((now - start, usage(java).cpu_seconds))
        progress = now if done > last else progress
        if now - progress > _STALL_SECONDS:
            raise LinkError(f"it stands still at {done:,} of {expected:,} changes")
        stage.check()
        time.sleep(_LOOK_SECONDS)
    return course


BENCH = Bench(
    "sustained",
    "Sustained rate",
    "The pipeline is live and idle; then accounts are sent as fast as the broker takes them. All "
    "users were there before, so the number of changes is known: one for each account (`asof`), "
    "or one for each user of the account's key (`left`, `inner`). Measured between 40% and 95% "
    "of the last of three lots. A row is an account message; the raw table is written at the same "
    "time and its work is in the CPU.",
    cases,
)
