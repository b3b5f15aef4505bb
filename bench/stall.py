"""Whether heavy work holds up the event loop, which all viewers would notice at once."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Sequence
from functools import partial

import evergrid
from bench.arithmetic import percentile
from bench.audience import Span
from bench.figure import Bench, Cases, Value
from bench.helper import Helper
from bench.knocks import Knock, Knocks
from bench.load import now_us
from bench.screen import say
from bench.served import served
from bench.server import GatewayServer, mean_delay
from bench.stage import TABLE
from evergrid.client import col

_READY_SECONDS = 300.0
_QUIET_SECONDS, _QUICK_QUIET_SECONDS = 65.0, 3.0  # the metric's worst is the last minute's
_CALM = 0.02
_IDLE_SECONDS = 5.0
_READ_BYTES = 1 << 20
_END_SECONDS = 60.0


def cases(quick: bool) -> Cases:
    rows, quiet = (200_000, _QUICK_QUIET_SECONDS) if quick else (5_000_000, _QUIET_SECONDS)
    return {f"{rows:,} rows": partial(_measure, rows, quiet)}


def _measure(rows: int, quiet: float) -> tuple[Value, ...]:
    with served(rows) as tables, tables.gateway() as gateway:
        gateway.wait_until_ready(_READY_SECONDS)
        stop = tables.folder / "knocks.stop"
        task = Knocks(gateway.address, str(stop))
        with Helper(task, list[Knock], tables.folder) as knocking:
            phases = {
                "nothing": _watched(gateway, quiet, lambda: time.sleep(_IDLE_SECONDS)),
                "new view": _watched(gateway, quiet, lambda: _view(gateway)),
                "Arrow export": _watched(gateway, quiet, lambda: _export(gateway, "arrow")),
            }
            stop.touch()
            knocks = knocking.result(_END_SECONDS)
    return tuple(
        value
        for name, (span, worst, mean) in phases.items()
        for value in phase_values(name, span, worst, mean, knocks)
    )


def phase_values(
    name: str, span: Span, worst: float, mean: float, knocks: Sequence[Knock]
) -> tuple[Value, ...]:
    """`worst` and `mean` delay of the loop in milliseconds, as the metrics say."""
    took = sorted(knock.took_us / 1000 for knock in knocks if knock.at_us in span)
    seconds = (span.end_us - span.begin_us) / 1e6
    return (
        Value(name, seconds, "s", digits=1),
        Value(f"{name}: mean delay", mean, "ms", digits=1),
        Value(f"{name}: worst delay", worst, "ms", digits=1),
        Value(f"{name}: /livez p99", percentile(took, 0.99), "ms", digits=1),
        Value(f"{name}: /livez max", took[-1], "ms", digits=1),
    )


def _watched(
    gateway: GatewayServer, quiet: float, work: Callable[[], None]
) -> tuple[Span, float, float]:
    """Do the work once the metrics have forgotten what was before it."""
    forgotten = time.monotonic() + quiet
    gateway.wait_for(
        lambda: _worst(gateway) < _CALM or time.monotonic() > forgotten, "quiet", quiet * 2
    )
    say("  now to work")
    before, begin = gateway.metrics(), now_us()
    work()
    span, after = Span(begin, now_us()), gateway.metrics()
    return span, after["loop_delay_worst_seconds"] * 1000, mean_delay(before, after)


def _worst(gateway: GatewayServer) -> float:
    return gateway.metrics()["loop_delay_worst_seconds"]


def _view(gateway: GatewayServer) -> None:
    """Open a window of a view that nobody has, and wait for its first state."""
    where = col("age") > 30
    with (
        evergrid.connect(gateway.address, gateway.key) as client,
        client.windows(TABLE, where=where, order=("name", "-balance")) as windows,
    ):
        for window in windows:
            if window.sequence:
                return


def _export(gateway: GatewayServer, form: str) -> None:
    """All rows, read as fast as they come and thrown away."""
    request = urllib.request.Request(
        f"{gateway.address}/api/tables/{TABLE}/rows?limit=all&format={form}",
        headers={"Authorization": f"Bearer {gateway.key}"},
    )
    with urllib.request.urlopen(request, timeout=_READY_SECONDS) as answer:
        while answer.read(_READ_BYTES):
            pass


BENCH = Bench(
    "stall",
    "The event loop under heavy work",
    "A gateway with so many rows: nothing asked of it, a view that nobody had before (a filter, "
    "an order by a text and a number) until its first window, and all rows exported. Delays are "
    "the event loop's own, from /metrics; beside that another process asks for /livez every ten "
    "milliseconds and times the answers.",
    cases,
)
