"""Where the live queries of a generation are in their sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from evergrid.kafka.topics import Place, TopicWatch
from evergrid.pipeline.checkpoint import positions
from evergrid.pipeline.leads import ConsumerLeads
from evergrid.pipeline.plan import Plan

Places = Mapping[Place, int]


class Positions:
    """Where one query is, from how far its consumers say to be from the topics' starts.

    A consumer says so when it fetches. As long as it says the same, it stays where it was,
    even if the start has moved on.
    """

    def __init__(self, starts: Places) -> None:
        self._known = dict(starts)
        self._said: dict[Place, tuple[str, int]] = {}

    def update(self, group: str, leads: Places, first: Places) -> None:
        """`first` are the oldest offsets; a query that was restarted has another group."""
        for place, lead in leads.items():
            if self._said.get(place) != (group, lead):
                self._said[place] = (group, lead)
                self._known[place] = first.get(place, 0) + lead

    def left(self, ends: Places) -> int:
        """How many messages before these ends are still to be read."""
        return sum(max(0, end - self._known.get(place, 0)) for place, end in ends.items())


class Sights(Protocol):
    """What is known of the queries of a generation."""

    def look(self) -> Places:
        """Ask the consumers where they are; returns the ends of their topics just before."""

    def left(self, ends: Places) -> int:
        """How many messages before these ends are still to be read, by all queries."""


class Reading:
    """All queries; made before they are started. DataError when a checkpoint is damaged."""

    def __init__(
        self, plan: Plan, watch: TopicWatch, groups: Callable[[], Mapping[str, str]]
    ) -> None:
        """`groups` tells what the names of each query's consumer groups begin with now."""
        self._watch = watch
        self._groups = groups
        self._leads = ConsumerLeads(plan.spark)
        self._topics = {
            query: {source.topic for source in plan.sources_read_by(query)}
            for query in plan.queries()
        }
        self._positions = {query: Positions(_starts(plan, query)) for query in plan.queries()}

    def look(self) -> Places:
        """Ask the consumers where they are; returns the ends of their topics just before."""
        names = set().union(*self._topics.values())
        edges = self._watch.edges(names)
        for query, group in self._groups().items():
            leads = self._leads.of(group, self._topics[query])
            self._positions[query].update(group, leads, edges.first)
        return edges.end

    def left(self, ends: Places) -> int:
        """How many messages before these ends are still to be read, by all queries."""
        return sum(
            positions.left({p: end for p, end in ends.items() if p[0] in self._topics[query]})
            for query, positions in self._positions.items()
        )


def _starts(plan: Plan, query: str) -> Places:
    starts = positions(plan, query)
    return {
        (source.topic, partition): offset
        for source in plan.sources_read_by(query)
        for partition, offset in starts[source.name].items()
    }
