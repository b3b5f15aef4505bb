"""How fast rows get from a changelog's bytes into memory, and how much of it they take."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from bench.figure import Bench, Cases, Value
from bench.helper import Helper
from bench.intake import Intake, TakenIn
from bench.joined import KEYS

_LIMIT_SECONDS = 600.0


def cases(quick: bool) -> Cases:
    sizes = (200_000,) if quick else (1_000_000, 5_000_000)
    wanted = [(rows, KEYS, f"{KEYS:,} people") for rows in sizes]
    wanted.append((sizes[0], sizes[0], "each with texts of its own"))
    return {
        f"{rows:,} rows, {words}": partial(_measure, rows, keys) for rows, keys, words in wanted
    }


def _measure(rows: int, keys: int) -> tuple[Value, ...]:
    with (
        tempfile.TemporaryDirectory(prefix="evergrid-bench-") as folder,
        Helper(Intake(rows, keys), TakenIn, Path(folder)) as helper,
    ):
        return values(rows, helper.result(_LIMIT_SECONDS))


def values(rows: int, taken: TakenIn) -> tuple[Value, ...]:
    return (
        Value("rate", rows / taken.seconds, "rows/s"),
        Value("in a changelog", taken.text_bytes / rows, "bytes/row"),
        Value("in the store", taken.store_bytes / rows, "bytes/row"),
        Value("process grew by", taken.memory_bytes / rows, "bytes/row"),
        Value("CPU to parse 10,000", taken.parse_cpu / rows * 1e7, "ms", digits=1),
        Value("CPU to apply 10,000", taken.apply_cpu / rows * 1e7, "ms", digits=1),
    )


BENCH = Bench(
    "load",
    "Load, changelog bytes to store",
    "Rows of the default join as the changelog has them are parsed in one thread and applied to "
    "the store in another, in batches of 10,000, as a gateway does; no Kafka. `in the store` is "
    "what the store says that it holds, and what its cap goes by; `process grew by` is what the "
    "system says.",
    cases,
)
