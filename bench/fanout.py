"""What many viewers of one view cost, and what those who never read cost the others."""

from __future__ import annotations

import time
from functools import partial

import msgspec

from bench.arithmetic import percentile
from bench.audience import Audience, Scene, Seen, Span
from bench.deaf import Deaf
from bench.figure import Bench, Cases, Value
from bench.helper import Helper
from bench.load import now_us
from bench.screen import say
from bench.served import Served, served
from bench.server import GatewayServer, mean_delay
from bench.stage import TABLE
from bench.usage import CoresInUse

_ROWS = 20_000  # of the table: what stands in it is not what this is about
_READY_SECONDS = 120.0
_SETTLE_SECONDS = 5.0
_GONE_SECONDS = 60.0
_FAST = 4.0  # beats a second among those who never read, to have enough of them to compare


class Plan(msgspec.Struct, frozen=True):
    """How long to look, and how often those who never read come."""

    seconds: float
    rounds: int


_FULL = Plan(seconds=40.0, rounds=4)
_QUICK = Plan(seconds=6.0, rounds=1)


def cases(quick: bool) -> Cases:
    plan = _QUICK if quick else _FULL
    found: dict[str, partial[tuple[Value, ...]]] = {}
    for viewers, processes in ((100, 2),) if quick else ((500, 2), (2_000, 4)):
        scene = Scene(viewers, processes, window=300, rows=10, per_second=2.0)
        found[f"{viewers:,} viewers"] = partial(_many, scene, plan)
    viewers, dead = (60, 10) if quick else (300, 50)
    scene = Scene(viewers - dead, 2, window=100, rows=100, per_second=_FAST)
    found[f"{dead} of {viewers} never read"] = partial(_slow, scene, dead, plan)
    return found


def _many(scene: Scene, plan: Plan) -> tuple[Value, ...]:
    with served(_ROWS) as tables, tables.gateway() as gateway:
        gateway.wait_until_ready(_READY_SECONDS)
        time.sleep(_SETTLE_SECONDS)  # what loading took is given back
        alone = gateway.usage().rss_bytes
        with Audience(tables, gateway, scene) as audience:
            say(f"  {scene.viewers:,} viewers from {scene.processes} processes")
            audience.gather()
            time.sleep(_SETTLE_SECONDS)
            before, cores = gateway.metrics(), CoresInUse(gateway.pid)
            span = _span(plan.seconds)
            in_use, after = cores.so_far(), gateway.metrics()
            memory = gateway.usage().rss_bytes
            seen = audience.dismiss()
    frames = after["frames_total"] - before["frames_total"]
    size = after["frame_bytes_total"] - before["frame_bytes_total"]
    return (
        Value("gateway cores in use", in_use, digits=2),
        Value("frames", frames / plan.seconds, "/s"),
        Value("frame", size / frames, "bytes"),
        *_latencies(seen, [span]),
        Value("memory of a viewer", (memory - alone) / audience.size / 1024, "KB"),
        Value("process", memory / 1024**2, "MB"),
        _milliseconds("mean loop delay", mean_delay(before, after)),
    )


def _slow(scene: Scene, dead: int, plan: Plan) -> tuple[Value, ...]:
    """In turn: those who read alone, then with others who do not."""
    healthy: list[Span] = []
    mixed: list[Span] = []
    gone: list[float] = []
    with served(_ROWS) as tables, tables.gateway() as gateway:
        gateway.wait_until_ready(_READY_SECONDS)
        with Audience(tables, gateway, scene) as audience:
            say(f"  {scene.viewers} viewers who read")
            audience.gather()
            time.sleep(_SETTLE_SECONDS)
            for number in range(plan.rounds):
                healthy.append(_span(min(plan.seconds, 15.0)))
                say(f"  {dead} who do not")
                span, seconds = _bear(tables, gateway, audience, scene, dead, number)
                mixed.append(span)
                gone.append(seconds)
            seen = audience.dismiss()
    return slow_values(seen, healthy, mixed, gone)


def _bear(
    tables: Served,
    gateway: GatewayServer,
    audience: Audience,
    scene: Scene,
    dead: int,
    number: int,
) -> tuple[Span, float]:
    """From when they have stopped reading until the gateway is rid of them."""
    stop = tables.folder / f"deaf-{number}.stop"
    task = Deaf(gateway.address, gateway.key, TABLE, scene.window, dead, str(stop))
    with Helper(task, int, tables.folder) as helper:
        audience.wait_for_connections(audience.size + dead)
        begin, clock = now_us(), time.monotonic()
        audience.wait_for_connections(audience.size, _GONE_SECONDS)
        seconds = time.monotonic() - clock
        span = Span(begin, now_us())
        stop.touch()
        helper.result(_GONE_SECONDS)
    return span, seconds


def slow_values(
    seen: Seen, healthy: list[Span], mixed: list[Span], gone: list[float]
) -> tuple[Value, ...]:
    without, among = seen.from_change(healthy), seen.from_change(mixed)
    ratio = percentile(among, 0.99) / percentile(without, 0.99)
    return (
        _milliseconds("p50 without them", percentile(without, 0.50)),
        _milliseconds("p50 with them", percentile(among, 0.50)),
        _milliseconds("p99 without them", percentile(without, 0.99)),
        _milliseconds("p99 with them", percentile(among, 0.99)),
        Value("p99, with to without", ratio, digits=2),
        Value("gone after", max(gone), "s", digits=1),
        Value("frames timed", len(without) + len(among)),
    )


def _latencies(seen: Seen, spans: list[Span]) -> tuple[Value, ...]:
    change, state = seen.from_change(spans), seen.from_state(spans)
    return (
        _milliseconds("p50 from change", percentile(change, 0.50)),
        _milliseconds("p99 from change", percentile(change, 0.99)),
        _milliseconds("p50 from state", percentile(state, 0.50)),
        _milliseconds("p99 from state", percentile(state, 0.99)),
    )


def _span(seconds: float) -> Span:
    begin = now_us()
    time.sleep(seconds)
    return Span(begin, now_us())


def _milliseconds(name: str, amount: float) -> Value:
    return Value(name, amount, "ms", digits=1)


BENCH = Bench(
    "fanout",
    "Many viewers of one view",
    "A window of 300 rows of which ten change twice a second, before viewers that are raw "
    "WebSockets in several processes and only count frames. Latency is taken by 20 probes in "
    "processes of their own, half of them connected before the crowd and half after it: from "
    "the moment before the change is handed to the Kafka client, and from the moment the "
    "gateway took the state. Those who never read: windows of 100 rows that all change four "
    "times a second; in turns of 15 seconds without and then with so many who open the window "
    "and never read from their socket, half of them still sending hearts.",
    cases,
)
