"""How long a gateway that starts anew needs until it shows everything again."""

from __future__ import annotations

from functools import partial

from bench.figure import Bench, Cases, Value
from bench.screen import say
from bench.served import served
from bench.stage import TABLE
from evergrid.model.errors import LinkError

_LIMIT_SECONDS = 300.0


def cases(quick: bool) -> Cases:
    rows = 100_000 if quick else 1_000_000
    return {f"{rows:,} rows": partial(_measure, rows)}


def _measure(rows: int) -> tuple[Value, ...]:
    with served(rows) as tables:
        say("  starting the gateway")
        with tables.gateway() as gateway:
            serving = gateway.began_serving
            ready = gateway.wait_until_ready(_LIMIT_SECONDS)
            used = gateway.usage()
            metrics = gateway.metrics()
    there = metrics[f'table_rows{{table="{TABLE}"}}']
    if there != rows:
        raise LinkError(f"{there:,.0f} rows are there where {rows:,} were due")
    return (
        Value("start to serving", serving, "s", digits=1),
        Value("start to ready", ready, "s", digits=1),
        Value("rate", rows / (ready - serving), "rows/s"),
        Value("CPU", used.cpu_seconds, "s", digits=1),
        Value("table", metrics[f'table_bytes{{table="{TABLE}"}}'] / 1024**2, "MB"),
        Value("process", used.rss_bytes / 1024**2, "MB"),
        Value("process at its peak", used.peak_bytes / 1024**2, "MB"),
    )


BENCH = Bench(
    "rebuild",
    "A gateway starts anew",
    "The default join's rows are on their changelog in Kafka when `evergrid gateway` starts. "
    "Serving: it answers, and says that it is loading. Ready: every table is there in full. The "
    "rate is from one to the other. CPU and memory are those of the gateway's process since its "
    "start.",
    cases,
)
