"""Waits grow to a limit, differ by chance where wanted, and start anew after a success."""

from __future__ import annotations

import random
import time

import pytest

from evergrid.process.backoff import Backoff

SEED = 20_261_116


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_waits_double_up_to_the_longest() -> None:
    backoff = Backoff(1, 30)
    assert [backoff.failed() for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    assert backoff.failures == 7
    backoff.reset()
    assert (backoff.failures, backoff.failed()) == (0, 1)


def test_it_is_due_when_the_wait_is_over(clock: list[float]) -> None:
    backoff = Backoff(2, 30)
    assert backoff.is_due()
    backoff.failed()
    clock[0] += 1.9
    assert not backoff.is_due()
    clock[0] += 0.1
    assert backoff.is_due()
    backoff.failed()
    backoff.reset()
    assert backoff.is_due()


def test_with_jitter_waits_differ_by_up_to_half() -> None:
    print(f"seed {SEED}")
    backoff = Backoff(0.2, 10, random.Random(SEED))
    expected = [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10]
    seen = [backoff.failed() for _ in expected]
    assert all(limit / 2 <= wait <= limit for wait, limit in zip(seen, expected, strict=True))
    assert len(set(seen)) == len(seen)
    backoff.reset()
    assert backoff.failed() <= 0.2
