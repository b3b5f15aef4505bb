"""How far queries have come, and since when they lack something."""

from __future__ import annotations

from evergrid.pipeline.query_positions import Freshness, Places, Positions
from evergrid.pipeline.streaming_query import by_bean_name

USERS = ("users", 0)
MORE_USERS = ("users", 1)


def started(starts: Places) -> Positions:
    positions = Positions()
    positions.begin(starts)
    return positions


def test_what_nobody_has_begun_to_read_is_left_from_the_checkpoint_on() -> None:
    positions = started({USERS: 10, MORE_USERS: 5})
    assert positions.left({USERS: 110, MORE_USERS: 5, ("users", 2): 50}) == 100 + 0 + 50


def test_what_is_read_beyond_the_end_counts_for_nothing_else() -> None:
    positions = started({USERS: 900, MORE_USERS: 20})
    assert positions.left({USERS: 110, MORE_USERS: 50}) == 30


def test_a_consumer_that_says_nothing_new_has_not_moved() -> None:
    positions = started({USERS: 0})
    positions.consumed("a", {USERS: 500}, {USERS: 1000})
    assert positions.left({USERS: 2000}) == 500
    positions.consumed("a", {USERS: 500}, {USERS: 1400})  # retention took some
    assert positions.left({USERS: 2000}) == 500
    positions.consumed("a", {USERS: 600}, {USERS: 1400})
    assert positions.left({USERS: 2000}) == 0
    positions.consumed("a", {}, {USERS: 1400})
    assert positions.left({USERS: 2100}) == 100


def test_a_query_that_was_started_again_may_be_further_behind() -> None:
    positions = started({USERS: 0})
    positions.consumed("first start", {USERS: 500}, {USERS: 0})
    positions.consumed("second start", {USERS: 100}, {USERS: 0})
    assert positions.left({USERS: 500}) == 400


def test_what_was_written_before_a_restart_is_written_again() -> None:
    """Rows are then what they were at the time, so a table is not live before that is over."""
    positions = started({USERS: 0})
    positions.reach({USERS: 500})
    positions.begin({USERS: 100})
    assert positions.left({USERS: 500}) == 400


def test_what_consumers_of_an_earlier_start_said_is_forgotten() -> None:
    positions = started({USERS: 0})
    positions.consumed("a", {USERS: 500}, {USERS: 0})
    positions.begin({USERS: 100})
    positions.consumed("a", {USERS: 500}, {USERS: 50})
    assert positions.left({USERS: 600}) == 50


def test_what_is_reached_never_goes_back() -> None:
    positions = started({USERS: 0})
    positions.reach({USERS: 50, MORE_USERS: 10})
    positions.reach({USERS: 30})
    assert positions.left({USERS: 60, MORE_USERS: 10}) == 10


def test_topics_with_dots_are_known_by_what_a_consumer_calls_them() -> None:
    known = by_bean_name(["sales.users.v1", "accounts"])
    assert known["sales_users_v1"] == known["sales.users.v1"] == "sales.users.v1"
    assert known["accounts"] == "accounts"


def test_tables_are_as_fresh_as_the_last_ends_that_were_written() -> None:
    positions = Positions()
    freshness = Freshness(positions, at=7)
    for moment, end, written, fresh_at, left in (
        (10, 0, 0, 10, 0),  # nothing to read is fresh
        (20, 50, 0, 10, 50),
        (30, 80, 49, 10, 31),
        (40, 90, 50, 20, 40),
        (50, 90, 90, 50, 0),
        (60, 90, 90, 60, 0),  # a quiet source
    ):
        positions.reach({USERS: written})
        freshness.look(moment, {USERS: end})
        assert (freshness.at, freshness.left) == (fresh_at, left), moment


def test_a_table_is_as_old_as_its_slowest_partition() -> None:
    positions = Positions()
    freshness = Freshness(positions, at=7)
    freshness.look(10, {USERS: 50, MORE_USERS: 50})
    positions.reach({USERS: 50})
    freshness.look(20, {USERS: 50, MORE_USERS: 50})
    assert (freshness.at, freshness.left) == (7, 50)
    positions.reach({MORE_USERS: 50})
    freshness.look(30, {USERS: 90, MORE_USERS: 50})
    assert (freshness.at, freshness.left) == (20, 40)


def test_what_stays_behind_for_long_takes_no_more_memory() -> None:
    positions = Positions()
    freshness = Freshness(positions, at=7)
    for end in range(1, 3000):
        freshness.look(end + 7, {USERS: end})
    assert freshness.at == 7
    assert len(freshness._notes) <= 1000
    positions.reach({USERS: 2999})
    freshness.look(4000, {USERS: 2999})
    assert freshness.at > 7
    assert freshness.left == 0
    freshness.look(4001, {USERS: 2999})
    assert freshness.at == 4001
