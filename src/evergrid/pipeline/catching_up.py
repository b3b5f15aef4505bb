"""Whether live queries have read what was there when they were started."""

from __future__ import annotations

from evergrid.pipeline.reading import Sights


class CatchingUp:
    """The queries of a generation that is about to be shown."""

    def __init__(self, reading: Sights) -> None:
        self._reading = reading
        self._goals = reading.look()
        self.total = reading.left(self._goals)

    def left(self) -> int:
        """Messages still to read, of the total."""
        self._reading.look()
        return min(self.total, self._reading.left(self._goals))
