from __future__ import annotations

from evergrid.gateway.live.stall_timer import Patience


def test_a_reader_with_nothing_to_read_is_never_slow() -> None:
    patience = Patience(10.0, 0.0)
    for second in range(100):
        assert patience.look(0, float(second))
        assert not patience.over(float(second))


def test_a_slow_reader_is_not_one_that_stands_still() -> None:
    patience = Patience(10.0, 0.0)
    patience.look(1000, 0.0)
    for second in range(1, 100):
        assert patience.look(1000 - second, float(second))
        assert not patience.over(float(second))


def test_a_reader_that_stands_still_has_its_time_and_no_more() -> None:
    patience = Patience(10.0, 0.0)
    patience.look(0, 50.0)
    patience.look(1000, 60.0)
    assert not patience.look(1000, 70.0)
    assert not patience.over(70.0)
    assert patience.over(70.1)


def test_what_is_added_to_the_heap_is_no_movement() -> None:
    patience = Patience(10.0, 0.0)
    patience.look(1000, 0.0)
    assert not patience.look(2000, 5.0)
    assert patience.over(10.1)
