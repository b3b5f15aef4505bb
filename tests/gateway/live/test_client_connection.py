from __future__ import annotations

from evergrid.gateway.live.client_connection import StallTimer


def test_a_reader_with_nothing_to_read_is_never_slow() -> None:
    timer = StallTimer(10.0, 0.0)
    for second in range(100):
        assert timer.update(0, float(second))
        assert not timer.is_stalled(float(second))


def test_a_slow_reader_is_not_one_that_stands_still() -> None:
    timer = StallTimer(10.0, 0.0)
    timer.update(1000, 0.0)
    for second in range(1, 100):
        assert timer.update(1000 - second, float(second))
        assert not timer.is_stalled(float(second))


def test_a_reader_that_stands_still_has_its_time_and_no_more() -> None:
    timer = StallTimer(10.0, 0.0)
    timer.update(0, 50.0)
    timer.update(1000, 60.0)
    assert not timer.update(1000, 70.0)
    assert not timer.is_stalled(70.0)
    assert timer.is_stalled(70.1)


def test_what_is_added_to_the_heap_is_no_movement() -> None:
    timer = StallTimer(10.0, 0.0)
    timer.update(1000, 0.0)
    assert not timer.update(2000, 5.0)
    assert timer.is_stalled(10.1)
