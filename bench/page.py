"""A report as the page docs/bench-results.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bench.figure import Figure, Row
from bench.machine import ROOT
from bench.report import Report, facts

PAGE = ROOT / "docs" / "bench-results.md"

_HEAD = """\
# Measured figures

Written by `python -m bench --render FILE...`; do not edit. [bench](bench.md) says how to measure
them yourself and what each one means.
"""


def render(*reports: Report) -> str:
    """The whole page; each report's figures stand under what they were measured with."""
    parts = [_HEAD, *(part for report in reports for part in _report(report))]
    return "\n".join(part if part.endswith("\n") else part + "\n" for part in parts)


def _report(report: Report) -> Iterator[str]:
    yield _lines(f"- {fact}" for fact in facts(report))
    if report.quick:
        yield "**A quick run: it shows that the benchmarks work and nothing else.**"
    for figure in report.figures:
        yield from _figure(figure)


def _figure(figure: Figure) -> Iterator[str]:
    yield f"## {figure.title}"
    yield figure.meaning
    names = list(dict.fromkeys(value.name for row in figure.rows for value in row.values))
    if names:
        yield _lines(
            [
                _line(["case", *names]),
                _line(["---"] + ["---:"] * len(names)),
                *(_line([row.case, *_cells(row, names)]) for row in figure.rows if row.values),
            ]
        )
    failed = [row for row in figure.rows if row.error]
    if failed:
        yield _lines(f"- {row.case}: failed. {_one_line(row.error)}" for row in failed)


def _cells(row: Row, names: list[str]) -> list[str]:
    """In the order of the columns; a case that lacks a value has a dash there."""
    shown = {value.name: value.shown() for value in row.values}
    return [shown.get(name, "–") for name in names]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())
