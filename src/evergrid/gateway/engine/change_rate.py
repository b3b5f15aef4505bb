"""The rate at which a table changes, over the last seconds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

_SECONDS = 5.0
_STEP = 0.5


class ChangeRate:
    """The growth of a counter per second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, int]] = deque([(clock(), 0)])

    def count(self, total: int) -> None:
        """Record the total so far; call it regularly, also when nothing changed."""
        now = self._clock()
        if now - self._samples[-1][0] >= _STEP or len(self._samples) == 1:
            self._samples.append((now, total))
        else:
            self._samples[-1] = (self._samples[-1][0], total)
        while len(self._samples) > 2 and now - self._samples[0][0] > _SECONDS:
            self._samples.popleft()

    @property
    def per_second(self) -> float:
        first, last = self._samples[0], self._samples[-1]
        passed = self._clock() - first[0]
        return (last[1] - first[1]) / passed if passed > 0 else 0.0
