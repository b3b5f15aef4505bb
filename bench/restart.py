"""How long a pipeline that was stopped needs until its tables are fresh again, and for what."""

from __future__ import annotations

import time

from bench.figure import Bench, Cases, Value
from bench.screen import say
from bench.stage import LARGE, live_stage
from evergrid.model.join import JoinType

_FULL_KEYS, _QUICK_KEYS = 4_000, 300
_LIMIT_SECONDS = 300.0
# What the pipeline says, in this order.
_STEPS = {
    "Python and Kafka": "Going on with generation",
    "Spark's start": "Spark is up",
    "queries": "is live",
}


def cases(quick: bool) -> Cases:
    return {f"asof, {LARGE}": lambda: _measure(_QUICK_KEYS if quick else _FULL_KEYS)}


def _measure(keys: int) -> tuple[Value, ...]:
    with live_stage(JoinType.ASOF, LARGE, keys) as stage:
        stage.close()
        say("  starting the pipeline again, with nothing to read")
        began = last = time.monotonic()
        stage.start(JoinType.ASOF)
        values = []
        for step, words in _STEPS.items():
            stage.pipeline.wait_for_words(words, _LIMIT_SECONDS)
            now = time.monotonic()
            values.append(Value(step, now - last, "s", digits=1))
            last = now
        return (Value("process to fresh", last - began, "s", digits=1), *values)


BENCH = Bench(
    "restart",
    "A pipeline starts again",
    "`evergrid pipeline` was live, is stopped in order and started again with nothing new on its "
    "topics. Fresh: its queries run in real-time mode, and their output has everything. The parts: "
    "until Python has found the generation to go on with; until Spark's Java is up; until the "
    "queries have read their state and reported that they lack nothing.",
    cases,
)
