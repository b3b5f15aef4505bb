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
def board() -> Board:
    return Board(NAMES, "quarantine")


def table(name: str, newest: float = 0.0, state: Live = Live.LIVE) -> TableDescription:
    return TableDescription(name, state, generation=3, rows=1, newest=round(newest * 1_000_000))


def answer(board: Board, *tables: TableDescription) -> None:
    board.gateway_answered(ADDRESS, tables)


def test_it_is_live_once_a_row_of_the_running_pipeline_came(board: Board) -> None:
    answer(board, table("final_ui", time.time()))
    assert not board.view().live
    board.pipeline_started()
    answer(board, table("final_ui", time.time() - 60))
    assert not board.view().live
    answer(board, table("final_ui", time.time() + 1))
    assert board.view().live
    assert board.live_since is not None
    board.pipeline_ended("It ended.")
    view = board.view()
    assert (view.live, view.status) == (False, "It ended.")
    board.pipeline_started()
    assert not board.view().live


def test_a_row_in_quarantine_or_of_an_own_table_does_not_make_it_live(board: Board) -> None:
    board.pipeline_started()
    now = time.time() + 1
    answer(board, table("final_ui"), table("quarantine", now), table("orchestrator_status", now))
    view = board.view()
    assert (view.live, board.live_since) == (False, None)
    assert [table.name for table in view.tables] == ["final_ui", "quarantine"]


def test_a_table_that_is_stale_is_not_live_and_its_message_is_shown(board: Board) -> None:
    board.pipeline_started()
    stale = msgspec.structs.replace(
        table("final_ui", time.time() + 1, Live.STALE), message="Kafka does not answer."
    )
    answer(board, table("users_ui", time.time() + 1), stale)
    view = board.view()
    assert (view.live, view.status) == (False, "Kafka does not answer.")


def test_tables_keep_their_order(board: Board) -> None:
    answer(board, *(table(name) for name in reversed(NAMES)))
    view = board.view()
    assert tuple(table.name for table in view.tables) == NAMES
    assert (view.generation, view.address) == (3, ADDRESS)


def test_the_address_is_shown_only_while_the_gateway_answers(board: Board) -> None:
    answer(board, table("final_ui"))
    answer(board, table("final_ui"))
    assert board.take_lines() == [f"The tables are served at {ADDRESS}"]
    board.gateway_ended("The gateway ended.")
    assert board.view().address == ""
    answer(board, table("final_ui"))
    board.gateway_unreachable()
    assert board.view().address == ""
    assert board.take_lines() == ["The gateway ended.", f"The tables are served at {ADDRESS}"]


def test_lines_are_taken_once_and_the_last_step_is_the_status(board: Board) -> None:
    for text in ("Starting Spark.", "Starting Spark.", "Spark is up."):
        board.step(text)
    board.note("For people.")
    assert board.take_lines() == ["Starting Spark.", "Spark is up.", "For people."]
    assert board.take_lines() == []
    assert board.view().status == "Spark is up."
