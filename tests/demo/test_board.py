"""The board combines what the demo's threads report."""

from __future__ import annotations

import time

import msgspec
import pytest

from evergrid.client import Live, TableDescription
from evergrid.demo.board import Board

NAMES = ("users_ui", "final_ui", "quarantine")
ADDRESS = "http://127.0.0.1:8080/#key=eg_secret"


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def board(lines: list[str]) -> Board:
    return Board(NAMES, "quarantine", lines.append)


def table(name: str, newest: float = 0.0, state: Live = Live.LIVE) -> TableDescription:
    return TableDescription(name, state, generation=3, rows=1, newest=round(newest * 1_000_000))


def answer(board: Board, *tables: TableDescription) -> bool:
    """Whether the board is live after the gateway gave this answer."""
    board.gateway_answered(ADDRESS, tables)
    return board.live


def test_it_is_live_once_a_row_of_the_running_pipeline_came(board: Board) -> None:
    assert not answer(board, table("final_ui", time.time()))
    board.pipeline_started()
    assert not answer(board, table("final_ui", time.time() - 60))
    assert answer(board, table("final_ui", time.time() + 1))
    assert board.live_since is not None
    board.pipeline_ended("It ended.")
    assert (board.live, board.status) == (False, "It ended.")
    board.pipeline_started()
    assert not board.live


def test_a_row_in_quarantine_or_of_an_own_table_does_not_make_it_live(board: Board) -> None:
    board.pipeline_started()
    now = time.time() + 1
    answer(board, table("final_ui"), table("quarantine", now), table("orchestrator_status", now))
    assert (board.live, board.live_since) == (False, None)
    assert [table.name for table in board.tables] == ["final_ui", "quarantine"]


def test_a_table_that_is_stale_is_not_live_and_its_message_is_shown(board: Board) -> None:
    board.pipeline_started()
    stale = msgspec.structs.replace(
        table("final_ui", time.time() + 1, Live.STALE), message="Kafka does not answer."
    )
    answer(board, table("users_ui", time.time() + 1), stale)
    assert (board.live, board.status) == (False, "Kafka does not answer.")


def test_tables_keep_their_order(board: Board) -> None:
    answer(board, *(table(name) for name in reversed(NAMES)))
    assert tuple(table.name for table in board.tables) == NAMES
    assert (board.generation, board.address) == (3, ADDRESS)


def test_the_address_is_shown_only_while_the_gateway_answers(
    board: Board, lines: list[str]
) -> None:
    answer(board, table("final_ui"))
    answer(board, table("final_ui"))
    served = f"The tables are served at {ADDRESS}"
    assert lines == [served]
    board.gateway_lost("The gateway ended.")
    assert board.address == ""
    answer(board, table("final_ui"))
    board.gateway_lost()
    assert board.address == ""
    assert lines == [served, "The gateway ended.", served]


def test_a_step_is_reported_once_and_the_last_one_is_the_status(
    board: Board, lines: list[str]
) -> None:
    for text in ("Starting Spark.", "Starting Spark.", "Spark is up."):
        board.step(text)
    board.report("For people.")
    assert lines == ["Starting Spark.", "Spark is up.", "For people."]
    assert board.status == "Spark is up."
