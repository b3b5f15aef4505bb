"""The arithmetic behind the figures, on numbers that can be checked by hand."""

from __future__ import annotations

import pytest
from bench.arithmetic import at, crossing, longest_gap, percentile


def test_a_percentile_is_a_value_that_was_measured() -> None:
    hundred = list(range(1, 101))
    assert [percentile(hundred, share) for share in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert percentile(hundred, 0.07) == 7
    assert percentile([3, 9], 0.5) == 3
    assert percentile([3, 9], 0.51) == 9
    assert percentile([4], 0.01) == 4


@pytest.mark.parametrize("share", [0, -0.1, 1.1])
def test_a_share_must_be_one(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        percentile([1], share)


def test_nothing_has_no_percentile() -> None:
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 0.5)


def test_a_level_is_crossed_between_two_points() -> None:
    course = [(0.0, 0.0), (1.0, 0.0), (2.0, 100.0), (4.0, 200.0)]
    assert crossing(course, 50) == 1.5
    assert crossing(course, 100) == 2.0
    assert crossing(course, 150) == 3.0
    assert crossing(course, 0) == 0.0
    with pytest.raises(ValueError, match="never"):
        crossing(course, 201)


def test_a_value_between_two_points_lies_on_their_line() -> None:
    course = [(0.0, 10.0), (2.0, 14.0), (3.0, 14.0)]
    assert [at(course, x) for x in (0.0, 1.0, 2.0, 2.5)] == [10, 12, 14, 14]
    with pytest.raises(ValueError, match="outside"):
        at(course, 3.5)


def test_the_longest_gap_does_not_depend_on_order() -> None:
    assert longest_gap([10, 1, 2, 7]) == 5
    assert longest_gap([1]) == 0
    assert longest_gap([]) == 0
