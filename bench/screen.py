"""What a person sees: a line for each step while it works, and one table at the end."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.table import Table

from bench.figure import Row
from bench.report import Report, facts


def say(text: str) -> None:
    """A line of progress; on standard error, so that the table can be kept apart."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def show(report: Report, console: Console | None = None) -> None:
    """The whole report as one table."""
    (console or Console()).print(table(report))


def table(report: Report) -> Table:
    shown = Table(title="Evergrid, measured", caption="\n".join(facts(report)), show_lines=True)
    for heading in ("figure", "case", "measured"):
        shown.add_column(heading, overflow="fold")
    for figure in report.figures:
        for row in figure.rows:
            shown.add_row(figure.name, row.case, _cell(row))
        shown.add_section()
    return shown


def _cell(row: Row) -> str:
    if row.error:
        return f"failed: {row.error}"
    return " · ".join(f"{value.name} {value.shown()}" for value in row.values)
