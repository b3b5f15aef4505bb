"""One run of the benchmarks as a file that outlives it."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from bench.figure import Figure
from bench.machine import ROOT, Machine
from evergrid.model.errors import ConfigError

RESULTS = ROOT / "bench" / "results"


class Report(msgspec.Struct, frozen=True):
    """All that was measured, and where."""

    started: str
    seconds: float
    quick: bool
    machine: Machine
    figures: tuple[Figure, ...]


def default_file(report: Report) -> Path:
    """`<date>-<commit>.json`, the date to the minute, so that a second run spares the first."""
    date = report.started.replace(":", "").replace(" ", "-")
    quick = "-quick" if report.quick else ""
    return RESULTS / f"{date}-{report.machine.commit}{quick}.json"


def save(report: Report, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")


def load(path: Path) -> Report:
    """The report in a file; ConfigError when there is none in it."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(
            f"this is no report of a benchmark ({error})",
            where=str(path),
            remedy="Name a file that python -m bench wrote, such as one of bench/results/.",
        ) from None


def now() -> str:
    return time.strftime("%Y-%m-%d %H:%M")


def facts(report: Report) -> tuple[str, ...]:
    """The lines without which the figures mean nothing."""
    machine = report.machine
    load_before = ", ".join(f"{load:.2f}" for load in machine.load_before)
    run = "a quick run, only to see that it works" if report.quick else "a full run"
    return (
        f"{report.started}, {run}, {report.seconds / 60:.0f} minutes; "
        f"Evergrid {machine.evergrid}, commit {machine.commit}",
        f"{machine.cores} cores, {machine.memory_gib:g} GiB, {machine.system}; "
        f"load before (1, 5, 15 minutes) {load_before}",
        f"Python {machine.python}, Java {machine.java}, Spark {machine.spark}, "
        f"Kafka broker {machine.kafka_broker}, Kafka client in Spark {machine.kafka_client}"
        + (f", {machine.gateway}" if machine.gateway else ""),
    )
