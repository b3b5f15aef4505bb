"""How far a query has come in its sources, and since when it lacks something."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from evergrid.kafka.topics import Place

Places = Mapping[Place, int]

_MOST_NOTES = 1000


class Positions:
    """The next message of each partition that a query has still to write.

    A query without a state writes what it reads, so its consumers' own positions count. A join
    reports what it has joined, and its consumers are ahead of it.
    """

    def __init__(self) -> None:
        self._known: dict[Place, int] = {}
        self._said: dict[Place, tuple[str, int]] = {}

    def begin(self, starts: Places) -> None:
        """It was started (again) from its checkpoint. What it wrote since then it writes again,
        with the rows as they were then, and some of it may never have been written."""
        self._known = dict(starts)
        self._said.clear()

    def reach(self, places: Places) -> None:
        """It has written everything before these."""
        for place, position in places.items():
            self._known[place] = max(position, self._known.get(place, 0))

    def consumed(self, group: str, leads: Places, first: Places) -> None:
        """Take what consumers say: how far from the topics' starts, `first`, they are.

        A consumer says so when it fetches. As long as it says the same, it stays where it was,
        even if the start has moved on. A query that was restarted has another group.
        """
        for place, lead in leads.items():
            if self._said.get(place) != (group, lead):
                self._said[place] = (group, lead)
                self._known[place] = first.get(place, 0) + lead

    def before(self, first: Places) -> list[Place]:
        """Partitions whose next message is before the oldest one that there is: it is gone."""
        return [place for place, at in first.items() if self._known.get(place, at) < at]

    def left(self, ends: Places) -> int:
        """How many messages before these ends are still to be written."""
        return sum(max(0, end - self._known.get(place, 0)) for place, end in ends.items())


class Freshness:
    """What the ends of the sources were at times past, against what has been written since."""

    def __init__(self, positions: Positions, at: int) -> None:
        """Everything had been written at `at`, in microseconds since the epoch."""
        self.at = at
        self.left = 0
        self._positions = positions
        self._notes: deque[tuple[int, Places]] = deque()

    def look(self, now: int, ends: Places) -> None:
        """Note the ends of now, and find out which notes have been reached."""
        if len(self._notes) < _MOST_NOTES:  # with fewer notes it is only less precise
            self._notes.append((now, ends))
        self.left = self._positions.left(ends)
        while self._notes and not self._positions.left(self._notes[0][1]):
            self.at = self._notes.popleft()[0]
