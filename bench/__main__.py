"""`python -m bench`: measure the figures, show them, keep them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import (
    boundary,
    endtoend,
    fanout,
    grid,
    history,
    latency,
    loading,
    painted,
    rebuild,
    report,
    restart,
    stall,
    sustained,
    swap,
    views,
)
from bench.figure import Bench, Cases, Figure, Row
from bench.machine import ROOT, look
from bench.page import PAGE, render
from bench.report import Report
from bench.screen import say, show
from evergrid.model.errors import EvergridError

_SPARK = (latency, boundary, sustained, history, restart)
_CONTROL = (swap,)
_GATEWAY = (loading, views, rebuild, fanout, endtoend, stall)
_PAGE = (grid, painted)
BENCHES = {module.BENCH.name: module.BENCH for module in (*_SPARK, *_GATEWAY, *_CONTROL, *_PAGE)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHES]
    if unknown:
        parser.error(f"no figure is called {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    try:
        if options.render:
            return _render(options.render)
        names = options.names or list(BENCHES)
        return _run(names, options.case, options.quick, options.json)
    except EvergridError as error:
        say(f"bench: {error.sentence()}")
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
        return 130


def _run(names: Sequence[str], case: str, quick: bool, file: Path | None) -> int:
    started, clock, machine = report.now(), time.monotonic(), look()
    figures = tuple(_measure(BENCHES[name], case, quick) for name in names)
    made = Report(started, time.monotonic() - clock, quick, machine, figures)
    path = file or report.default_file(made)
    report.save(made, path)
    show(made)
    say(f"Kept in {path}.")
    return 1 if any(row.error for figure in figures for row in figure.rows) else 0


def _measure(bench: Bench, wanted: str, quick: bool) -> Figure:
    cases = bench.cases(quick)
    rows = tuple(_row(bench, case, cases) for case in cases if wanted in case)
    return Figure(bench.name, bench.title, bench.meaning, rows)


def _row(bench: Bench, case: str, cases: Cases) -> Row:
    """One case; when it fails the others are still worth measuring."""
    say(f"{bench.name}: {case}")
    try:
        row = Row(case, cases[case]())
    except (EvergridError, AssertionError, LookupError, OSError) as error:
        row = Row(case, error=str(error) or type(error).__name__)
    say(f"  {row.error or ', '.join(f'{value.name} {value.shown()}' for value in row.values)}")
    return row


def _render(files: Sequence[Path]) -> int:
    PAGE.write_text(render(*(report.load(file) for file in files)))
    say(f"Written to {PAGE.relative_to(ROOT)}.")
    return 0


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {bench.name:<10} {bench.title}" for bench in BENCHES.values())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure Evergrid on this machine, with a Kafka broker and Spark of its own.",
        epilog=f"figures:\n{listed}\n\ndocs/bench.md says what each of them means.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="figures to measure; all when none is named"
    )
    parser.add_argument(
        "--case", default="", metavar="TEXT", help="only cases with this in their name, as asof"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="minutes instead of the better part of an hour: see that it works",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="where to keep the report (bench/results/…)"
    )
    parser.add_argument(
        "--render",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="only write docs/bench-results.md, from these reports",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
