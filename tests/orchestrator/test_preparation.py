from __future__ import annotations

import time

import pytest

from evergrid.config import load
from evergrid.orchestrator.preparation import Attempts


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_waits_grow_to_half_a_minute(clock: list[float]) -> None:
    wanted, tries = load(None, {}), Attempts()
    assert tries.are_due(wanted)
    assert [tries.failed() for _ in range(6)] == [2, 4, 8, 16, 30, 30]
    clock[0] += 29.9
    assert not tries.are_due(wanted)
    clock[0] += 0.1
    assert tries.are_due(wanted)


def test_five_are_enough() -> None:
    tries = Attempts()
    enough = []
    for _ in range(5):
        tries.failed()
        enough.append(tries.are_enough)
    assert enough == [False, False, False, False, True]


def test_for_something_else_they_begin_anew(clock: list[float]) -> None:
    tries = Attempts()
    assert tries.are_due(load(None, {}))
    for _ in range(4):
        tries.failed()
    tries.number = 7
    other = load(None, {"EVERGRID_JOINS__FINAL__TYPE": "inner"})
    assert tries.are_due(other)
    assert tries.failed() == 2
    assert [tries.number, tries.are_enough] == [None, False]
