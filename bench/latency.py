"""How long from a source message to the change it causes, at an everyday rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import msgspec

from bench.arithmetic import percentile
from bench.figure import Bench, Cases, Value
from bench.helper import Helper, Task
from bench.load import Loaded, Steady, accounts_among, now_us
from bench.screen import say
from bench.stage import LARGE, SMALL, Stage, State, live_stage
from bench.usage import CoresInUse
from bench.watch import Watch, Watched
from evergrid.model.errors import LinkError
from evergrid.model.join import JoinType

RATE = 1_000
_GRACE_SECONDS = 60.0  # for the last row to come


class Plan(msgspec.Struct, frozen=True):
    """How long to look."""

    keys: int
    warm_seconds: int
    seconds: int


class Stream(msgspec.Struct, frozen=True):
    """What came of a steady stream: each change of the measured part, and what is missing."""

    arrived_us: list[int]
    age_us: list[int]
    sent_per_second: float
    missing: int
    cores: float

    def counts(self) -> tuple[Value, ...]:
        return (
            Value("sent", self.sent_per_second, "rows/s"),
            Value("changes", len(self.age_us)),
            Value("accounts missing", self.missing),
            Value("Spark cores in use", self.cores, digits=2),
        )


FULL = Plan(keys=2_000, warm_seconds=120, seconds=60)
QUICK = Plan(keys=300, warm_seconds=5, seconds=10)


def cases(quick: bool) -> Cases:
    chosen = [(JoinType.ASOF, LARGE)]
    if not quick:
        chosen += [(join, SMALL) for join in (JoinType.ASOF, JoinType.LEFT, JoinType.INNER)]
    plan = QUICK if quick else FULL
    return {
        f"{join.value}, {state}": partial(_measure, join, state, plan) for join, state in chosen
    }


# Who reads: told how many accounts will come, and for how many seconds to wait for them.
Reader = Callable[[int, float], Task]


def stream(
    stage: Stage,
    plan: Plan,
    reading: Reader | None = None,
    wait_for_reader: Callable[[], None] = lambda: None,
) -> Stream:
    """Send a steady stream, read what comes of it, keep what came after the warm-up.

    Without a reader of its own, the changelog is read, from where it ends now. One that sees
    only what comes while it looks must be waited for.
    """
    count = RATE * (plan.warm_seconds + plan.seconds)
    accounts = accounts_among(count)
    limit = plan.warm_seconds + plan.seconds + _GRACE_SECONDS
    say(f"  {RATE:,} rows/s for {plan.warm_seconds} + {plan.seconds} seconds")
    watch = (reading or _watching(stage))(accounts, limit)
    load = Steady(stage.bootstrap, count, RATE, plan.keys)
    with Helper(watch, Watched, stage.folder) as reader:
        wait_for_reader()
        with Helper(load, Loaded, stage.folder) as sender:
            time.sleep(plan.warm_seconds)
            cores = CoresInUse(stage.java())
            loaded = sender.result(limit)
            in_use = cores.so_far()
        watched = reader.result(limit + _GRACE_SECONDS)
    stage.check()
    begin = loaded.began_us + plan.warm_seconds * 1_000_000
    kept = [
        (arrived, age)
        for arrived, age in zip(watched.arrived_us, watched.age_us, strict=True)
        if arrived - age >= begin
    ]
    if not kept:
        raise LinkError("nothing came after the warm-up")
    return Stream(
        arrived_us=[arrived for arrived, _ in kept],
        age_us=[age for _, age in kept],
        sent_per_second=count / ((loaded.ended_us - loaded.began_us) / 1e6),
        missing=accounts - watched.accounts,
        cores=in_use,
    )


def _watching(stage: Stage) -> Reader:
    place = (stage.bootstrap, stage.changelog, stage.ends())
    return lambda accounts, limit: Watch(*place, accounts, now_us(), limit)


def milliseconds(name: str, microseconds: float) -> Value:
    return Value(name, microseconds / 1000, "ms", digits=1)


def _measure(join: JoinType, state: State, plan: Plan) -> tuple[Value, ...]:
    with live_stage(join, state, plan.keys) as stage:
        seen = stream(stage, plan)
    ordered = sorted(seen.age_us)
    return (
        milliseconds("p50", percentile(ordered, 0.50)),
        milliseconds("p95", percentile(ordered, 0.95)),
        milliseconds("p99", percentile(ordered, 0.99)),
        milliseconds("max", ordered[-1]),
        *seen.counts(),
    )


BENCH = Bench(
    "latency",
    "Latency, Kafka to changelog",
    "From the moment before a message is handed to the Kafka client to the moment the change it "
    f"causes is with a reader of `final_ui`'s changelog, at {RATE:,} messages a second: one user "
    "for every ten accounts, keys at random. Every change counts, from the later of the two "
    "messages it was made from. No batch boundary falls into the measured part. Accounts missing "
    "are those that were sent and never seen in any change.",
    cases,
)
