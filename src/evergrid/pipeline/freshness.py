"""Since when a generation's tables lack something that its sources have."""

from __future__ import annotations

import time
from collections import deque

from evergrid.pipeline.reading import Places, Sights

_MOST_NOTES = 1000


class Freshness:
    """What the ends of the sources were at times past, against what has been read since."""

    def __init__(self, reading: Sights, at: int) -> None:
        """Everything had been read at `at`, in microseconds since the epoch."""
        self.at = at
        self.left = 0
        self._reading = reading
        self._notes: deque[tuple[int, Places]] = deque()

    def look(self) -> None:
        """Note the ends of now, and find out which notes have been reached."""
        now, ends = time.time_ns() // 1000, self._reading.look()
        if len(self._notes) < _MOST_NOTES:  # with fewer notes it is only less precise
            self._notes.append((now, ends))
        self.left = self._reading.left(ends)
        while self._notes and not self._reading.left(self._notes[0][1]):
            self.at = self._notes.popleft()[0]
