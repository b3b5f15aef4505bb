"""What falls again and again is started more and more rarely, and never given up."""

from __future__ import annotations

from typing import cast

import pytest

from evergrid.kafka import restarts
from evergrid.kafka.leash import Leashed
from evergrid.kafka.restarts import Ended, Restarts, SupervisedChild, stop_all


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(restarts, "time", clock)
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


class Process:
    """A child process that ends when the test says so."""

    def __init__(self) -> None:
        self.code: int | None = None
        self.stopped: list[float] = []

    def poll(self) -> int | None:
        return self.code

    def ask_to_end(self, seconds: float) -> None:
        self.stopped.append(seconds)

    def stop(self, seconds: float) -> int:
        self.stopped.append(seconds)
        return 0


@pytest.fixture
def launched() -> list[Process]:
    return []


@pytest.fixture
def supervised(launched: list[Process], clock: Clock) -> SupervisedChild:
    def launch() -> Leashed:
        launched.append(Process())
        return cast("Leashed", launched[-1])

    return SupervisedChild(launch, 3.0)


def test_a_process_that_ended_is_reported_once_and_started_again_when_it_is_due(
    supervised: SupervisedChild, launched: list[Process], clock: Clock
) -> None:
    supervised.start()
    assert supervised.check() is None
    launched[0].code = 7
    assert supervised.check() == Ended(7, 1.0)
    assert supervised.check() is None
    assert len(launched) == 1
    clock.now += 1
    assert supervised.check() is None
    assert len(launched) == 2


def test_a_process_that_ran_for_long_counts_as_steady_from_then_on(
    supervised: SupervisedChild, launched: list[Process], clock: Clock
) -> None:
    supervised.start()
    clock.now += 61
    supervised.check()
    for _ in range(2):
        launched[-1].code = 1
        ended = supervised.check()
        assert ended is not None
        clock.now += ended.wait
        supervised.check()
    assert supervised.was_steady


def test_stopping_is_passed_on_while_it_runs_and_does_nothing_after_it_ended(
    supervised: SupervisedChild, launched: list[Process]
) -> None:
    supervised.start()
    stop_all([supervised])
    supervised.stop()
    assert launched[0].stopped == [3.0, 3.0]
