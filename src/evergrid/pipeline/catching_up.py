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


class Stretch(msgspec.Struct, frozen=True):
    """What one query has to read before it is up to date: by topic and partition, from → to."""

    starts: Ends
    goals: Ends

    @property
    def total(self) -> int:
        return sum(self._ahead(topic, p) for topic, goals in self.goals.items() for p in goals)

    def left(self, lags: Mapping[tuple[str, int], int], ends: Ends) -> int:
        """How much of it is left, when consumers are so far behind the ends as they are now."""
        return sum(
            self._left(topic, partition, lags.get((topic, partition)), ends)
            for topic, goals in self.goals.items()
            for partition in goals
        )

    def _left(self, topic: str, partition: int, lag: int | None, ends: Ends) -> int:
        ahead = self._ahead(topic, partition)
        if lag is None:  # its consumer has not read anything yet
            return ahead
        position = ends[topic].get(partition, 0) - lag
        return max(0, min(ahead, self.goals[topic][partition] - position))

    def _ahead(self, topic: str, partition: int) -> int:
        return max(0, self.goals[topic][partition] - self.starts[topic].get(partition, 0))


class CatchingUp:
    """The queries of a generation that is about to be shown; made before they are started."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        ends = self._ends()
        self._stretches = {query: _stretch(plan, query, ends) for query in plan.queries()}
        self._lags = ConsumerLags(plan.spark)

    @property
    def total(self) -> int:
        """Messages to read by all queries."""
        return sum(stretch.total for stretch in self._stretches.values())

    def left(self, groups: Mapping[str, str]) -> int:
        """Messages still to read; `groups` are those of each query's consumers."""
        ends = self._ends()
        return sum(
            stretch.left(self._lags.of(groups[query]) if query in groups else {}, ends)
            for query, stretch in self._stretches.items()
            if stretch.total
        )

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
