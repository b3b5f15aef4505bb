"""How long from a source message to the row on a person's screen."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import evergrid
from bench.arithmetic import delays, percentile
from bench.endtoend import wait_for_viewer
from bench.figure import Bench, Cases, Value
from bench.latency import FULL, QUICK, RATE, Plan, Stream, milliseconds, stream
from bench.load import now_us
from bench.screen import say
from bench.server import GatewayServer
from bench.stage import SMALL, TABLE, live_stage
from bench.watch import stamp_of
from bench.witness import Witness
from evergrid.client import col
from evergrid.model.join import JoinType

_READY_SECONDS = 120.0


def cases(quick: bool) -> Cases:
    return {f"asof, {SMALL}": partial(_measure, QUICK if quick else FULL)}


def _measure(plan: Plan) -> tuple[Value, ...]:
    with live_stage(JoinType.ASOF, SMALL, plan.keys) as stage:
        say("  starting the gateway and a browser")
        with GatewayServer(stage.config, stage.folder) as gateway:
            gateway.wait_until_ready(_READY_SECONDS)
            seen = stream(
                stage,
                plan,
                lambda _, limit: Witness(gateway.address, gateway.key, TABLE, now_us(), limit),
                partial(wait_for_viewer, gateway),
            )
            there = _stamps(gateway)
    return values(seen, there)


def _stamps(gateway: GatewayServer) -> list[int]:
    """When each account of the table was sent, if it was sent live."""
    live = col("accountType").starts_with("1")
    with evergrid.connect(gateway.address, gateway.key) as client:
        rows = client.snapshot(TABLE, columns=["accountType"], where=live)
    return [stamp_of(text) for text in rows["accountType"].to_pylist()]


def values(seen: Stream, there: Iterable[int]) -> tuple[Value, ...]:
    """`there` are the stamps of all rows; those from before the measured part are left out."""
    sights = [
        (arrived, arrived - age) for arrived, age in zip(seen.arrived_us, seen.age_us, strict=True)
    ]
    stamps = {stamp for _, stamp in sights}
    unseen = [stamp for stamp in there if stamp > min(stamps) and stamp not in stamps]
    ages = sorted(seen.age_us)
    everything = sorted([*ages, *delays(unseen, sights)])
    return (
        milliseconds("p50", percentile(ages, 0.50)),
        milliseconds("p95", percentile(ages, 0.95)),
        milliseconds("p99", percentile(ages, 0.99)),
        milliseconds("max", ages[-1]),
        Value("rows seen", len(ages)),
        Value("passed unseen", len(unseen)),
        milliseconds("p50 of all", percentile(everything, 0.50)),
        milliseconds("p99 of all", percentile(everything, 0.99)),
        milliseconds("max of all", everything[-1]),
        Value("sent", seen.sent_per_second, "rows/s"),
        Value("frames with news", len(set(seen.arrived_us))),
        Value("Spark cores in use", seen.cores, digits=2),
    )


BENCH = Bench(
    "painted",
    "Latency, producer to painted cell",
    "From the moment before a message is handed to the Kafka client to the row on the screen of "
    "a page that follows the newest rows, in Chromium: through Kafka, Spark, the changelog, the "
    f"gateway, its WebSocket and the grid, at {RATE:,} messages a second as in the latency to "
    "the changelog. A row is painted when the animation frame after the one that drew it begins, "
    "and counts if it was in sight. More rows may come between two frames than a screen has; "
    "those passed unseen, and of all they count until the first newer row was painted.",
    cases,
)
