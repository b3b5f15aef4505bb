"""Waits grow to a limit, differ by chance, and start anew after a good connection."""

from __future__ import annotations

import random

from evergrid.client.timeouts import Patience, Waits

SEED = 20_261_116


def test_waits() -> None:
    print(f"seed {SEED}")
    waits = Waits(Patience(first_wait=0.2, longest_wait=10), random.Random(SEED))
    expected = [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10]
    seen = [waits.next() for _ in expected]
    assert all(limit / 2 <= wait <= limit for wait, limit in zip(seen, expected, strict=True))
    assert len(set(seen)) == len(seen)
    waits.reset()
    assert waits.next() <= 0.2
