"""Where there is no terminal, everything that happens is a line."""

from __future__ import annotations

import io

from evergrid.demo.board import Board
from evergrid.demo.display import in_lines
from evergrid.demo.view import Words
from evergrid.testing.tables import wait_for

LIMIT = 60.0


def test_steps_and_troubles_are_told_once_and_at_once() -> None:
    board = Board(Words("dir", "tail", 50.0), ("final_ui",), "final_ui", "quarantine")
    output = io.StringIO()
    with in_lines(board, output):
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
        "Starting Spark.",
    ]


def test_whoever_stops_reading_harms_nothing() -> None:
    board = Board(Words("dir", "tail", 50.0), ("final_ui",), "final_ui", "quarantine")
    output = io.StringIO()
    output.close()
    with in_lines(board, output):
        board.step("Nobody hears this.")
