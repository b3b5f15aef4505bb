"""The delay of the event loop: all clients notice it at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque

INTERVAL_SECONDS = 0.1
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
RECENT = 600  # a minute


class LoopDelays:
    """Measured delays: a histogram since the start, and the worst of the last minute."""

    def __init__(self) -> None:
        self.last = 0.0
        self.count = 0
        self.sum = 0.0
        self.buckets = [0] * len(BUCKETS)  # each counts what is at most its bound
        self._recent: deque[float] = deque(maxlen=RECENT)

    @property
    def worst(self) -> float:
        return max(self._recent, default=0.0)

    def add(self, delay: float) -> None:
        self.last = delay
        self.count += 1
        self.sum += delay
        self._recent.append(delay)
        for index, bound in enumerate(BUCKETS):
            if delay <= bound:
                self.buckets[index] += 1


async def measure(delays: LoopDelays) -> None:
    """Measure how much longer a sleep takes than asked for; runs until cancelled."""
    while True:
        asked = time.monotonic()
        await asyncio.sleep(INTERVAL_SECONDS)
        delays.add(max(0.0, time.monotonic() - asked - INTERVAL_SECONDS))
