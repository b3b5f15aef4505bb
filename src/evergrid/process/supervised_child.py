"""When a process that fell is started again: soon, and each time later if it falls again soon."""

from __future__ import annotations

import time

_LONGEST_WAIT_SECONDS = 30.0
_CALM_SECONDS = 60.0  # what ran this long starts again with the shortest wait


class Restarts:
    """The waits of one process: a second after its first fall, then twice as long each time."""

    def __init__(self) -> None:
        self._started = 0.0
        self._wait = 0.0
        self._due = 0.0

    def started(self) -> None:
        self._started = time.monotonic()

    def is_calm(self) -> bool:
        """Whether it has run long enough to count as one that can run."""
        return time.monotonic() - self._started > _CALM_SECONDS

    def is_due(self) -> bool:
        """Whether the wait after the last fall is over."""
        return time.monotonic() >= self._due

    def fell(self) -> float:
        """Seconds to wait from now on."""
        first = self.is_calm() or not self._wait
        self._wait = 1.0 if first else min(_LONGEST_WAIT_SECONDS, 2 * self._wait)
        self._due = time.monotonic() + self._wait
        return self._wait
