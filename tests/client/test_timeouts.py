"""Waits grow to a limit, differ by chance, and start anew after a good connection."""

from __future__ import annotations

import random

from evergrid.client.timeouts import Backoff

SEED = 20_261_116


def test_backoff() -> None:
    print(f"seed {SEED}")
    backoff = Backoff(0.2, 10, random.Random(SEED))
    expected = [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10]
    seen = [backoff.failed() for _ in expected]
    assert all(limit / 2 <= wait <= limit for wait, limit in zip(seen, expected, strict=True))
    assert len(set(seen)) == len(seen)
    backoff.reset()
    assert backoff.failed() <= 0.2
