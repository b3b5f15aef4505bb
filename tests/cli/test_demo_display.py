"""The demo's board on a terminal, and its lines elsewhere."""

from __future__ import annotations

import io
import time

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from evergrid.cli.demo_display import render, show, status_line
from evergrid.client import Live, TableDescription
from evergrid.demo.board import Board, BoardView
from evergrid.testing.changelog_tables import wait_for

LIMIT = 60.0
ADDRESS = "http://127.0.0.1:8080/#key=eg_0123456789012345678901234567890123456789012"


def table(name: str, rows: int, rate: float, lag: float) -> TableDescription:
    return TableDescription(name, Live.LIVE, rows=rows, changes_per_second=rate, lag_seconds=lag)


LIVE = BoardView(
    live=True,
    address=ADDRESS,
    broker="127.0.0.1:20815",
    generation=3,
    tables=(
        table("users_ui", 1234, 5.2, 0.021),
        table("final_ui", 98765, 97.1, 41.0),
        table("quarantine", 3, 0.0, 200.0),
    ),
)


def console(output: io.StringIO, width: int = 100) -> Console:
    return Console(file=output, width=width, markup=False, emoji=False, highlight=False)


def shown(view: BoardView, width: int = 100) -> list[str]:
    output = io.StringIO()
    console(output, width).print(render(view))
    return output.getvalue().splitlines()


def test_the_board_names_state_address_key_and_broker() -> None:
    text = "\n".join(shown(LIVE))
    assert "● live, generation 3" in text
    assert ADDRESS in text
    assert "127.0.0.1:20815" in text
    assert "Ctrl-C" in text


def test_each_table_has_its_rows_rate_and_lag() -> None:
    lines = shown(LIVE)
    for words in (
        ["users_ui", "1,234", "5.2", "21", "ms"],
        ["final_ui", "98,765", "97.1", "41", "s"],
        ["quarantine", "3", "0.0"],
    ):
        (line,) = (line for line in lines if line.startswith(words[0]))
        assert line.split() == words


def test_before_it_is_live_the_board_says_what_it_waits_for() -> None:
    text = "\n".join(shown(BoardView(status="Starting Spark.")))
    assert "○ not live: Starting Spark." in text
    assert "not served yet" in text


@pytest.mark.parametrize("width", [30, 80, 200])
def test_the_board_fits_any_terminal_and_keeps_the_whole_address(width: int) -> None:
    lines = shown(LIVE, width)
    assert max(map(cell_len, lines)) <= width
    assert ADDRESS in "".join(line.strip().removeprefix("Open").strip() for line in lines)


def test_nothing_shown_can_control_the_terminal() -> None:
    view = msgspec.structs.replace(LIVE, live=False, status="\x1b[2J")
    assert "\x1b" not in "".join(shown(view))
    assert "\x1b" not in status_line(view)


def test_one_line_says_the_same() -> None:
    assert status_line(LIVE) == (
        "live, generation 3 | users_ui 1,234 rows, 5.2/s, lag 21 ms"
        " | final_ui 98,765 rows, 97.1/s, lag 41 s | quarantine 3 rows, 0.0/s"
    )
    assert status_line(BoardView(status="Starting Spark.")) == "not live: Starting Spark."


def test_without_a_terminal_steps_and_problems_are_printed_once_and_at_once() -> None:
    board = Board(("final_ui",), "quarantine")
    output = io.StringIO()
    with show(board, console(output, width=20)):
        board.step("Starting a Kafka broker.")
        wait_for(output.getvalue, lambda said: "Starting a Kafka broker." in said, LIMIT)
        board.pipeline_ended("The pipeline ended (for a \x1b reason); again in 1 s.")
        wait_for(output.getvalue, lambda said: "again in 1 s." in said, LIMIT)
        board.pipeline_started()
        board.step("Starting Spark.")
        wait_for(output.getvalue, lambda said: "Starting Spark." in said, LIMIT)
        board.stopping()
    lines = [line.split(" ", 1)[1] for line in output.getvalue().splitlines()]
    assert lines == [
        "Starting a Kafka broker.",
        "The pipeline ended (for a \\x1b reason); again in 1 s.",
        "Starting the pipeline.",
        "Starting Spark.",
    ]


def test_once_it_was_live_the_status_is_printed_again_and_again() -> None:
    board = Board(("final_ui",), "quarantine")
    output = io.StringIO()
    with show(board, console(output)):
        board.pipeline_started()
        newest = round((time.time() + 1) * 1_000_000)
        board.gateway_answered(ADDRESS, [TableDescription("final_ui", Live.LIVE, newest=newest)])
        wait_for(output.getvalue, lambda said: said.count("live, generation") == 2, LIMIT)


def test_on_a_terminal_the_steps_are_above_the_board() -> None:
    board = Board(("final_ui",), "quarantine")
    output = io.StringIO()
    terminal = Console(file=output, width=80, height=24, force_terminal=True)
    with show(board, terminal):
        board.step("Starting a Kafka broker.")
        wait_for(output.getvalue, lambda said: "Starting a Kafka broker.\n" in said, LIMIT)
        wait_for(output.getvalue, lambda said: "○ not live" in said, LIMIT)


def test_a_reader_that_has_gone_does_no_harm() -> None:
    board = Board(("final_ui",), "quarantine")
    output = io.StringIO()
    screen = console(output)
    output.close()
    with show(board, screen):
        board.step("Nobody reads this.")
