"""How long from a source message to the row in a program's live window."""

from __future__ import annotations

from functools import partial

from bench.arithmetic import percentile
from bench.figure import Bench, Cases, Value
from bench.latency import FULL, QUICK, RATE, Plan, milliseconds, stream
from bench.load import now_us
from bench.onlooker import Onlooker
from bench.screen import say
from bench.server import GatewayServer
from bench.stage import SMALL, TABLE, State, live_stage
from bench.usage import CoresInUse
from evergrid.model.join import JoinType

_READY_SECONDS = 120.0
# Enough that no row passes through the window unseen between two frames, even when many come
# at once after a pause. Only of an as-of join is every change a row among the newest.
_ROWS = 1_000


def cases(quick: bool) -> Cases:
    plan = QUICK if quick else FULL
    return {f"asof, {SMALL}": partial(_measure, JoinType.ASOF, SMALL, plan)}


def _measure(join: JoinType, state: State, plan: Plan) -> tuple[Value, ...]:
    with live_stage(join, state, plan.keys) as stage:
        say("  starting the gateway")
        with GatewayServer(stage.config, stage.folder) as gateway:
            gateway.wait_until_ready(_READY_SECONDS)
            place = (gateway.address, gateway.key, TABLE, _ROWS)
            cores = CoresInUse(gateway.pid)
            seen = stream(
                stage,
                plan,
                lambda accounts, limit: Onlooker(*place, accounts, now_us(), limit),
                partial(wait_for_viewer, gateway),
            )
            in_use = cores.so_far()
            memory = gateway.usage().rss_bytes
    ordered = sorted(seen.age_us)
    return (
        milliseconds("p50", percentile(ordered, 0.50)),
        milliseconds("p95", percentile(ordered, 0.95)),
        milliseconds("p99", percentile(ordered, 0.99)),
        milliseconds("max", ordered[-1]),
        *seen.counts(),
        Value("gateway cores in use", in_use, digits=2),
        Value("gateway memory", memory / 1024**2, "MB"),
    )


def wait_for_viewer(gateway: GatewayServer) -> None:
    gateway.wait_for(
        lambda: gateway.metrics()["subscribers"] > 0, "the viewer to come", _READY_SECONDS
    )


BENCH = Bench(
    "endtoend",
    "Latency, producer to client",
    "From the moment before a message is handed to the Kafka client to the moment a program "
    "with the Python client has the window that shows it: through Kafka, Spark, the changelog, "
    f"the gateway and its WebSocket, at {RATE:,} messages a second as in the latency to the "
    "changelog. The window shows the newest accounts. A row counts when it comes into the "
    "window or changes in it, from the later of its two messages; accounts missing are those "
    "that were sent and never seen.",
    cases,
)
