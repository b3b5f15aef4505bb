"""A generation is up to date when what was there has been read, and not before."""

from __future__ import annotations

from evergrid.pipeline.catching_up import Positions, Stretch

STRETCH = Stretch({"users": {0: 10, 1: 5}}, {"users": {0: 110, 1: 5, 2: 50}})


def test_what_nobody_has_begun_to_read_is_left_as_a_whole() -> None:
    assert STRETCH.total == 100 + 0 + 50
    assert STRETCH.left({}) == 150


def test_what_is_read_beyond_the_goal_counts_for_nothing_else() -> None:
    assert STRETCH.left({("users", 0): 60, ("users", 2): 20}) == 50 + 30
    assert STRETCH.left({("users", 0): 900, ("users", 2): 20}) == 30
    assert STRETCH.left({("users", 0): 110, ("users", 2): 50}) == 0


def test_a_consumer_that_says_nothing_new_has_not_moved() -> None:
    positions, place = Positions(), ("users", 0)
    assert positions.update({place: 500}, {"users": {0: 1000}}) == {place: 500}
    assert positions.update({place: 500}, {"users": {0: 1500}}) == {place: 500}
    assert positions.update({place: 100}, {"users": {0: 1500}}) == {place: 1400}
    assert positions.update({place: 0}, {"users": {0: 1500}}) == {place: 1500}
    assert positions.update({}, {"users": {0: 1600}}) == {place: 1500}
