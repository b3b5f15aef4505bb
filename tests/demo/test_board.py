"""The board puts together what the demo's threads know."""

from __future__ import annotations

import time

import msgspec
import pytest

from evergrid.changelog.codec import Change, Row
from evergrid.config import load
from evergrid.demo.arrivals import Arrival, Batch, Moved
from evergrid.demo.board import Board, preparing
from evergrid.demo.view import Words
from evergrid.model.generation import Generation, Progress, State, Times

SETTINGS = load(None, {})
TABLES = (*SETTINGS.raw_tables(), *SETTINGS.joined_tables(), SETTINGS.quarantine())
NAMES = tuple(table.name for table in TABLES)
GENERATION = Generation(3, State.PREPARING, SETTINGS.sources, SETTINGS.joins, {}, {}, Times())
MOVED = tuple(Moved(table, GENERATION) for table in TABLES)


@pytest.fixture
def board() -> Board:
    return Board(Words("dir", "tail", 50.0), NAMES, "final_ui", "quarantine")


def came(table: str, row: Row, written: float) -> Batch:
    arrival = Arrival(table, Change("0:1", row), round(written * 1000), live=True)
    return Batch(arrivals=(arrival,))


def test_it_is_live_once_a_row_came_of_the_pipeline_that_runs(board: Board) -> None:
    board.apply(Batch(moved=MOVED))
    board.apply(came("final_ui", {"ts": 1}, time.time()))
    assert not board.view().live
    board.pipeline_started()
    board.apply(came("final_ui", {"ts": 1}, time.time() - 60))
    assert not board.view().live
    board.apply(came("final_ui", {"ts": 1}, time.time() + 1))
    assert board.view().live
    assert board.live_since is not None
    board.pipeline_ended("It ended.")
    view = board.view()
    assert (view.live, view.trouble) == (False, "It ended.")


def test_a_bad_message_is_shown_but_is_no_sign_of_life(board: Board) -> None:
    board.apply(Batch(moved=MOVED))
    board.pipeline_started()
    bad: Row = {"topic": "users", "reason": "tombstone", "ts": 1}
    board.apply(came("quarantine", bad, time.time() + 1))
    view = board.view()
    assert (view.live, view.bad) == (False, "users: tombstone")


def test_what_the_pipeline_says_of_itself_is_no_sign_of_life(board: Board) -> None:
    status = SETTINGS.orchestrator_status()
    board.apply(Batch(moved=(*MOVED, Moved(status, None))))
    board.pipeline_started()
    board.apply(came(status.name, {"generation": 1, "ts": 1}, time.time() + 1))
    view = board.view()
    assert not view.live
    assert status.name not in [table.name for table in view.tables]


def test_tables_keep_their_places_and_begin_anew_with_a_generation(board: Board) -> None:
    board.apply(Batch(moved=MOVED[::-1]))
    board.apply(came("final_ui", {"ts": 1}, time.time()))
    view = board.view()
    assert tuple(table.name for table in view.tables) == NAMES
    assert (view.generation, view.join) == (3, "left")
    assert (view.tables[2].rows, len(view.rows)) == (1, 1)
    board.apply(Batch(moved=MOVED))
    assert (board.view().tables[2].rows, board.view().rows) == (0, ())


def test_progress_takes_the_place_of_the_same_steps_progress(board: Board) -> None:
    board.step("Starting Spark.")
    for done in (0, 5, 9):
        progress = Progress("joining", done, 9)
        board.progress(msgspec.structs.replace(GENERATION, progress=progress))
    board.progress(msgspec.structs.replace(GENERATION, progress=Progress("writing", 0, 4)))
    assert board.view().steps == (
        "Starting Spark.",
        "Generation 3: joining: 9 of 9 rows (100%)",
        "Generation 3: writing: 0 of 4 rows (0%)",
    )


def test_steps_are_bounded_and_told_once(board: Board) -> None:
    for number in range(1000):
        board.step(f"step {number}")
    assert len(board.view().steps) < 100
    assert board.new_steps()[-1] == "step 999"
    assert board.new_steps() == []


def test_a_broker_that_is_away_is_told_until_it_is_back(board: Board) -> None:
    board.apply(Batch(trouble="It does not answer."))
    assert board.view().trouble == "It does not answer."
    board.apply(Batch())
    assert board.view().trouble == ""


def test_only_a_preparation_of_this_run_is_looked_at() -> None:
    old = msgspec.structs.replace(GENERATION, number=1, times=Times(created=5_000_000))
    new = msgspec.structs.replace(GENERATION, number=2, times=Times(created=9_000_000))
    assert preparing((old, new), since=8.0) == new
    assert preparing((old,), since=8.0) is None
