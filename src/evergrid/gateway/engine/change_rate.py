"""How fast something grows, over the last seconds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

_SECONDS = 5.0
_STEP = 0.5


class Rate:
    """A count's growth per second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque([(clock(), 0)])

    def count(self, total: int) -> None:
        """What has been counted by now; called now and then also when nothing was."""
        now = self._clock()
        if now - self._seen[-1][0] >= _STEP or len(self._seen) == 1:
            self._seen.append((now, total))
        else:
            self._seen[-1] = (self._seen[-1][0], total)
        while len(self._seen) > 2 and now - self._seen[0][0] > _SECONDS:
            self._seen.popleft()

    @property
    def per_second(self) -> float:
        first, last = self._seen[0], self._seen[-1]
        passed = self._clock() - first[0]
        return (last[1] - first[1]) / passed if passed > 0 else 0.0
