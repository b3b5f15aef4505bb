"""A report survives its file, and shows the same on the screen and on the page."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from bench.figure import Figure, Row, Value
from bench.machine import Machine
from bench.page import render
from bench.report import Report
from bench.screen import show
from rich.console import Console

from bench import report
from evergrid.model.errors import ConfigError

MACHINE = Machine(
    system="Linux 6.1 x86_64",
    cores=2,
    memory_gib=23.5,
    python="3.11.7",
    java="17.0.15",
    spark="4.3.0",
    kafka_broker="4.3.1",
    kafka_client="3.9.2",
    evergrid="0.1.0",
    commit="abc1234",
    load_before=(0.1, 0.25, 1.0),
)
FIGURE = Figure(
    "latency",
    "Latency",
    "From here to there.",
    (
        Row("asof", (Value("p50", 31.26, "ms", digits=1), Value("rows", 54_545))),
        Row("left", (Value("p50", 40.0, "ms", digits=1),)),
        Row("inner", error="the pipeline ended\nwith 1"),
    ),
)


def made(quick: bool = False) -> Report:
    return Report("2026-01-31 09:05", 1260.0, quick, MACHINE, (FIGURE,))


def test_a_report_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    report.save(made(), tmp_path / "new" / "run.json")
    assert report.load(tmp_path / "new" / "run.json") == made()


def test_a_file_that_is_no_report_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"started": 1}')
    for name in ("x.json", "missing.json"):
        with pytest.raises(ConfigError, match=name):
            report.load(tmp_path / name)


def test_a_file_is_named_by_date_and_commit() -> None:
    assert report.default_file(made()).name == "2026-01-31-0905-abc1234.json"
    assert report.default_file(made(quick=True)).name == "2026-01-31-0905-abc1234-quick.json"


def test_the_page_has_a_column_for_each_value_and_says_what_failed() -> None:
    page = render(made())
    assert (
        "## Latency\n\nFrom here to there.\n\n| case | p50 | rows |\n| --- | ---: | ---: |" in page
    )
    assert "| asof | 31.3 ms | 54,545 |\n| left | 40.0 ms | – |\n" in page
    assert "- inner: failed. the pipeline ended with 1\n" in page
    assert "load before (1, 5, 15 minutes) 0.10, 0.25, 1.00" in page
    assert "21 minutes" in page
    assert "quick" not in page


def test_a_quick_run_is_called_one_wherever_it_is_shown() -> None:
    assert "A quick run" in render(made(quick=True))
    assert "a quick run" in on_screen(made(quick=True))


def test_the_screen_has_every_value_in_one_table() -> None:
    said = on_screen(made())
    for words in ("p50 31.3 ms · rows 54,545", "p50 40.0 ms", "failed: the pipeline ended"):
        assert words in said
    assert said.count("figure") == 1


def on_screen(shown: Report) -> str:
    screen = io.StringIO()
    show(shown, Console(file=screen, width=200))
    return screen.getvalue()
