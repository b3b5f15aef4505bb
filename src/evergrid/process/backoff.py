"""Exponential backoff: how long to wait before the next attempt."""

from __future__ import annotations

import random
import time


class Backoff:
    """Waits `first` seconds after the first failure, then twice as long each time up to `longest`.

    With `jitter` a wait is a random part of that, at least half of it, so that many clients do
    not come back at the same moment.
    """

    def __init__(self, first: float, longest: float, jitter: random.Random | None = None) -> None:
        self._first = first
        self._longest = longest
        self._jitter = jitter
        self.reset()

    def reset(self) -> None:
        """Begin again with the first wait: the attempt was successful."""
        self.failures = 0
        self._next = self._first
        self._due = 0.0

    def failed(self) -> float:
        """Count a failure; return the seconds to wait from now on."""
        wait = self._next if self._jitter is None else self._next * self._jitter.uniform(0.5, 1.0)
        self.failures += 1
        self._next = min(2 * self._next, self._longest)
        self._due = time.monotonic() + wait
        return wait

    def is_due(self) -> bool:
        """Whether the wait after the last failure is over."""
        return time.monotonic() >= self._due
