"""How far queries have read, from what their consumers say; and since when they lack something."""

from __future__ import annotations

import time

import pytest

from evergrid.pipeline.catching_up import CatchingUp
from evergrid.pipeline.freshness import Freshness
from evergrid.pipeline.leads import by_bean_name
from evergrid.pipeline.reading import Places, Positions

USERS = ("users", 0)
MORE_USERS = ("users", 1)


class Readings:
    """What a test says of the sources and of the queries."""

    def __init__(self) -> None:
        self.ends: Places = {}
        self.positions = Positions({})

    def look(self) -> Places:
        return self.ends

    def left(self, ends: Places) -> int:
        return self.positions.left(ends)


def test_what_nobody_has_begun_to_read_is_left_from_the_checkpoint_on() -> None:
    positions = Positions({USERS: 10, MORE_USERS: 5})
    assert positions.left({USERS: 110, MORE_USERS: 5, ("users", 2): 50}) == 100 + 0 + 50


def test_what_is_read_beyond_the_end_counts_for_nothing_else() -> None:
    positions = Positions({USERS: 900, MORE_USERS: 20})
    assert positions.left({USERS: 110, MORE_USERS: 50}) == 30


def test_a_consumer_that_says_nothing_new_has_not_moved() -> None:
    positions = Positions({USERS: 0})
    positions.update("a", {USERS: 500}, {USERS: 1000})
    assert positions.left({USERS: 2000}) == 500
    positions.update("a", {USERS: 500}, {USERS: 1400})  # retention took some
    assert positions.left({USERS: 2000}) == 500
    positions.update("a", {USERS: 600}, {USERS: 1400})
    assert positions.left({USERS: 2000}) == 0
    positions.update("a", {}, {USERS: 1400})
    assert positions.left({USERS: 2100}) == 100


def test_a_query_that_was_started_again_may_be_further_behind() -> None:
    positions = Positions({USERS: 0})
    positions.update("first start", {USERS: 500}, {USERS: 0})
    positions.update("second start", {USERS: 100}, {USERS: 0})
    assert positions.left({USERS: 500}) == 400


def test_topics_with_dots_are_known_by_what_a_consumer_calls_them() -> None:
    known = by_bean_name(["sales.users.v1", "accounts"])
    assert known["sales_users_v1"] == known["sales.users.v1"] == "sales.users.v1"
    assert known["accounts"] == "accounts"


def test_catching_up_has_the_ends_of_its_beginning_as_its_goal() -> None:
    readings = Readings()
    readings.ends = {USERS: 100}
    catching_up = CatchingUp(readings)
    assert catching_up.total == catching_up.left() == 100
    readings.ends = {USERS: 900}
    readings.positions.update("a", {USERS: 60}, {})
    assert catching_up.left() == 40
    readings.positions.update("a", {USERS: 100}, {})
    assert catching_up.left() == 0


def test_tables_are_as_fresh_as_the_last_ends_that_were_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings, clock = Readings(), [0]
    monkeypatch.setattr(time, "time_ns", lambda: clock[0] * 1000)
    freshness = Freshness(readings, at=7)
    for moment, end, read, fresh_at, left in (
        (10, 0, 0, 10, 0),  # nothing to read is fresh
        (20, 50, 0, 10, 50),
        (30, 80, 49, 10, 31),
        (40, 90, 50, 20, 40),
        (50, 90, 90, 50, 0),
        (60, 90, 90, 60, 0),  # a quiet source
    ):
        clock[0] = moment
        readings.ends = {USERS: end}
        readings.positions.update("a", {USERS: read}, {})
        freshness.look()
        assert (freshness.at, freshness.left) == (fresh_at, left), moment


def test_what_stays_behind_for_long_takes_no_more_memory() -> None:
    readings = Readings()
    freshness = Freshness(readings, at=7)
    for end in range(1, 3000):
        readings.ends = {USERS: end}
        freshness.look()
    assert freshness.at == 7
    assert len(freshness._notes) <= 1000
    readings.positions.update("a", {USERS: 2999}, {})
    freshness.look()
    assert freshness.at > 7
    assert freshness.left == 0
