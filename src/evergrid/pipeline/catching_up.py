"""Whether live queries have read what was there when they were started."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.kafka import topics
from evergrid.model.source import Edge
from evergrid.pipeline.checkpoint import positions
from evergrid.pipeline.lag import ConsumerLags
from evergrid.pipeline.plan import Plan
from evergrid.pipeline.sources import Offsets

Ends = Mapping[str, Offsets]
Place = tuple[str, int]  # a topic and a partition


class Stretch(msgspec.Struct, frozen=True):
    """What one query has to read before it is up to date: by topic and partition, from → to."""

    starts: Ends
    goals: Ends

    @property
    def total(self) -> int:
        return sum(self._ahead(topic, p) for topic, goals in self.goals.items() for p in goals)

    def left(self, positions: Mapping[Place, int]) -> int:
        """How much of it is left for consumers that are there."""
        return sum(
            self._left(topic, partition, positions.get((topic, partition)))
            for topic, goals in self.goals.items()
            for partition in goals
        )

    def _left(self, topic: str, partition: int, position: int | None) -> int:
        ahead = self._ahead(topic, partition)
        if position is None:  # its consumer has not read anything yet
            return ahead
        return max(0, min(ahead, self.goals[topic][partition] - position))

    def _ahead(self, topic: str, partition: int) -> int:
        return max(0, self.goals[topic][partition] - self.starts[topic].get(partition, 0))


class Positions:
    """Where consumers are, from how far behind the end they say to be.

    A consumer says so when it fetches. As long as it says the same, it stays where it was,
    however far the end has moved on: it may be busy with what it has.
    """

    def __init__(self) -> None:
        self._said: dict[Place, int] = {}
        self._known: dict[Place, int] = {}

    def update(self, lags: Mapping[Place, int], ends: Ends) -> Mapping[Place, int]:
        for place, lag in lags.items():
            if self._said.get(place) != lag:
                topic, partition = place
                self._said[place] = lag
                self._known[place] = ends[topic].get(partition, 0) - lag
        return self._known


class CatchingUp:
    """The queries of a generation that is about to be shown; made before they are started."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        ends = self._ends()
        self._stretches = {query: _stretch(plan, query, ends) for query in plan.queries()}
        self._positions = {query: Positions() for query in plan.queries()}
        self._lags = ConsumerLags(plan.spark)

    @property
    def total(self) -> int:
        """Messages to read by all queries."""
        return sum(stretch.total for stretch in self._stretches.values())

    def left(self, groups: Mapping[str, str]) -> int:
        """Messages still to read; `groups` are those of each query's consumers."""
        ends = self._ends()
        left = 0
        for query, stretch in self._stretches.items():
            if stretch.total:
                lags = self._lags.of(groups[query]) if query in groups else {}
                left += stretch.left(self._positions[query].update(lags, ends))
        return left

    def _ends(self) -> Ends:
        connection = self._plan.settings.kafka.source
        names = {source.topic for source in self._plan.generation.sources.values()}
        return {name: topics.offsets(connection, name, Edge.LATEST) for name in names}


def _stretch(plan: Plan, query: str, ends: Ends) -> Stretch:
    read = plan.sources_read_by(query)
    starts = positions(plan, query)
    return Stretch(
        {source.topic: starts[source.name] for source in read},
        {source.topic: ends[source.topic] for source in read},
    )
