"""The demo's board on a terminal, and its lines elsewhere."""

from __future__ import annotations

import io
import os
import sys

import pytest
from rich.cells import cell_len
from rich.console import Console

from evergrid.cli.demo_command import print_line, render, status_line, watch
from evergrid.client import Live, TableDescription
from evergrid.demo.board import Board

ADDRESS = "http://127.0.0.1:8080/#key=eg_0123456789012345678901234567890123456789012"


def table(name: str, rows: int, rate: float, lag: float) -> TableDescription:
    return TableDescription(
        name,
        Live.LIVE,
        generation=3,
        rows=rows,
        changes_per_second=rate,
        lag_seconds=lag,
        newest=2**62,  # after any start of a pipeline
    )


TABLES = (
    table("users_ui", 1234, 5.2, 0.021),
    table("final_ui", 98765, 97.1, 41.0),
    table("quarantine", 3, 0.0, 200.0),
)


@pytest.fixture
def board() -> Board:
    return Board([one.name for one in TABLES], "quarantine", print)


@pytest.fixture
def live(board: Board) -> Board:
    board.broker = "127.0.0.1:20815"
    board.pipeline_started()
    board.gateway_answered(ADDRESS, TABLES)
    return board


def shown(board: Board, width: int = 100) -> list[str]:
    output = io.StringIO()
    Console(file=output, width=width, markup=False, highlight=False).print(render(board))
    return output.getvalue().splitlines()


def test_the_board_names_state_address_key_and_broker(live: Board) -> None:
    text = "\n".join(shown(live))
    assert "● live, generation 3" in text
    assert ADDRESS in text
    assert "127.0.0.1:20815" in text
    assert "Ctrl-C" in text


def test_each_table_has_its_rows_rate_and_lag(live: Board) -> None:
    lines = shown(live)
    for words in (
        ["users_ui", "1,234", "5.2", "21", "ms"],
        ["final_ui", "98,765", "97.1", "41", "s"],
        ["quarantine", "3", "0.0"],
    ):
        (line,) = (line for line in lines if line.startswith(words[0]))
        assert line.split() == words


def test_before_it_is_live_the_board_says_what_it_waits_for(board: Board) -> None:
    board.step("Starting Spark.")
    text = "\n".join(shown(board))
    assert "○ not live: Starting Spark." in text
    assert "not served yet" in text


@pytest.mark.parametrize("width", [30, 80, 200])
def test_the_board_fits_any_terminal_and_keeps_the_whole_address(live: Board, width: int) -> None:
    lines = shown(live, width)
    assert max(map(cell_len, lines)) <= width
    assert ADDRESS in "".join(line.strip() for line in lines)


def test_nothing_shown_can_control_the_terminal(
    live: Board, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    live.pipeline_ended("\x1b[2J")
    assert "\x1b" not in "".join(shown(live))
    print_line("\x1b[2J", Console())
    assert "\\x1b[2J\n" in capsys.readouterr().out


def test_one_line_says_the_same(live: Board) -> None:
    assert status_line(live) == (
        "live, generation 3 | users_ui 1,234 rows, 5.2/s, lag 21 ms"
        " | final_ui 98,765 rows, 97.1/s, lag 41 s | quarantine 3 rows, 0.0/s"
    )
    live.pipeline_ended("It ended.")
    assert status_line(live) == "not live: It ended."


@pytest.mark.parametrize(("status_lines", "count"), [(True, 2), (False, 0)])
def test_once_it_was_live_the_status_is_printed_again_and_again_until_the_time_is_over(
    live: Board, capsys: pytest.CaptureFixture[str], status_lines: bool, count: int
) -> None:
    watch(lambda: None, live, minutes=0.04, status_lines=status_lines)
    assert capsys.readouterr().out.count("live, generation 3") == count


def test_on_a_terminal_a_line_is_not_wrapped() -> None:
    output = io.StringIO()
    terminal = Console(file=output, width=20, height=24, force_terminal=True, highlight=False)
    print_line(f"The tables are served at {ADDRESS}", terminal)
    assert f"The tables are served at {ADDRESS}\n" in output.getvalue()


def test_a_reader_that_has_gone_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        for _ in range(2):
            print_line("Nobody reads this.", Console(file=io.StringIO()))
