"""What falls again and again is started more and more rarely, and never given up."""

from __future__ import annotations

import pytest

from evergrid.process import supervised_child
from evergrid.process.supervised_child import Restarts


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(supervised_child, "time", clock)
    return clock


def test_waits_grow_to_half_a_minute(clock: Clock) -> None:
    process = Restarts()
    waits = []
    for _ in range(7):
        process.started()
        clock.now += 1
        waits.append(process.fell())
    assert waits == [1, 2, 4, 8, 16, 30, 30]


def test_it_is_due_when_the_wait_is_over(clock: Clock) -> None:
    process = Restarts()
    process.started()
    process.fell()
    assert not process.is_due()
    clock.now += 1
    assert process.is_due()


def test_one_that_ran_for_a_while_starts_again_soon(clock: Clock) -> None:
    process = Restarts()
    for _ in range(4):
        process.started()
        process.fell()
    process.started()
    assert not process.is_calm()
    clock.now += 61
    assert process.is_calm()
    assert process.fell() == 1
