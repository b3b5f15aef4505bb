"""A child that ends again and again is started more and more rarely, and never given up."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Iterator

import pytest

from evergrid.process import child_process
from evergrid.process.supervised_child import Ended, SupervisedChild, stop_all

FAILS = (sys.executable, "-S", "-c", "raise SystemExit(3)")
RUNS = (sys.executable, "-S", "-c", "import time; time.sleep(600)")
LIMIT = 60.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def failing() -> Iterator[SupervisedChild]:
    child = supervised(FAILS)
    yield child
    child.stop()


def supervised(command: tuple[str, ...]) -> SupervisedChild:
    return SupervisedChild(functools.partial(child_process.start, command), stop_seconds=5.0)


def end_of(child: SupervisedChild) -> Ended:
    """Wait until it has ended; a real child needs real time for that."""
    deadline = time.perf_counter() + LIMIT
    while (ended := child.check()) is None:
        assert time.perf_counter() < deadline
        time.sleep(0.01)
    return ended


def test_it_is_started_again_after_growing_waits(
    failing: SupervisedChild, clock: list[float]
) -> None:
    failing.start()
    ends = []
    for _ in range(7):
        ends.append(end_of(failing))
        assert not failing.is_running
        clock[0] += ends[-1].wait
        assert failing.check() is None
        assert failing.is_running
    assert [(ended.code, ended.wait) for ended in ends] == [
        (3, wait) for wait in (1, 2, 4, 8, 16, 30, 30)
    ]


def test_not_before_the_wait_is_over(failing: SupervisedChild, clock: list[float]) -> None:
    failing.start()
    clock[0] += end_of(failing).wait - 0.1
    assert failing.check() is None
    assert not failing.is_running


def test_one_that_ran_for_a_while_starts_again_soon(
    failing: SupervisedChild, clock: list[float]
) -> None:
    failing.start()
    for _ in range(3):
        clock[0] += end_of(failing).wait
        failing.check()
    assert not failing.was_steady
    clock[0] += 61.0
    assert end_of(failing).wait == 1
    assert failing.was_steady


def test_all_are_stopped_and_stay_so() -> None:
    children = [supervised(RUNS), supervised(RUNS)]
    for child in children:
        child.start()
        assert child.check() is None
    stop_all(children)
    assert not any(child.is_running for child in children)
