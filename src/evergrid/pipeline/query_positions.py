"""How far a query has written its sources, and since when its output is incomplete."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from evergrid.kafka.topics import Place

Places = Mapping[Place, int]

_MOST_NOTES = 1000


class Positions:
    """The next message of each partition that a query has not written yet.

    A query without state writes what it reads, so the positions of its consumers are used. A join
    reports what it has joined; its consumers are ahead of that.
    """

    def __init__(self) -> None:
        self._known: dict[Place, int] = {}
        self._said: dict[Place, tuple[str, int]] = {}

    def begin(self, starts: Places) -> None:
        """The query was started from its checkpoint. It repeats what it wrote since then, and some
        of that may not have been written before."""
        self._known = dict(starts)
        self._said.clear()

    def reach(self, places: Places) -> None:
        """The query has written everything before these offsets."""
        for place, position in places.items():
            self._known[place] = max(position, self._known.get(place, 0))

    def consumed(self, group: str, leads: Places, first: Places) -> None:
        """Use the consumers' distances from the topics' starts, `first`.

        A consumer reports when it fetches. As long as it reports the same distance, it has not
        moved, even if the topic's start has. A restarted query has another group.
        """
        for place, lead in leads.items():
            if self._said.get(place) != (group, lead):
                self._said[place] = (group, lead)
                self._known[place] = first.get(place, 0) + lead

    def before(self, first: Places) -> list[Place]:
        """Partitions whose next message has been deleted from the topic."""
        return [place for place, at in first.items() if self._known.get(place, at) < at]

    def left(self, ends: Places) -> int:
        """How many messages before these ends have not been written yet."""
        return sum(max(0, end - self._known.get(place, 0)) for place, end in ends.items())


class Freshness:
    """Compares earlier ends of the sources with what has been written since."""

    def __init__(self, positions: Positions, at: int) -> None:
        """All messages had been written at `at`, in microseconds since the epoch."""
        self.at = at
        self.left = 0
        self._positions = positions
        self._notes: deque[tuple[int, Places]] = deque()

    def look(self, now: int, ends: Places) -> None:
        """Record the present ends, and find which recorded ends have been reached."""
        if len(self._notes) < _MOST_NOTES:  # with fewer records the time is only less precise
            self._notes.append((now, ends))
        self.left = self._positions.left(ends)
        while self._notes and not self._positions.left(self._notes[0][1]):
            self.at = self._notes.popleft()[0]
