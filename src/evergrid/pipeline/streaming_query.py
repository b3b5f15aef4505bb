"""A query that catches up in micro-batches, then runs in real-time mode.

Both modes use the same checkpoint. A micro-batch commits its offsets and its state together, and
real-time mode continues from there, so no message is left out and none is joined twice.
"""

from __future__ import annotations

import enum
import itertools
import time
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql.streaming.query import StreamingQuery

from evergrid.kafka.topics import Place, TopicWatch
from evergrid.model.errors import DataError
from evergrid.pipeline.checkpoint import positions
from evergrid.pipeline.engine import engine_classes
from evergrid.pipeline.kafka_frames import GROUP
from evergrid.pipeline.plan import Plan, QueryId
from evergrid.pipeline.query_failures import Failure, failure_of, told_plainly
from evergrid.pipeline.query_positions import Places, Positions
from evergrid.pipeline.session import is_local

_starts = itertools.count(1)
# More than so many messages are read in micro-batches, which cost less for each and write a row
# that several messages change once. Real-time mode takes so many in less than a second.
_MOST_LIVE = 1_000
# After micro-batches more may be left, of which real-time mode takes so many in a second or two:
# further micro-batches would take longer to start.
_MOST_LEFT_LIVE = 20_000
# Starting a query takes seconds, in which more messages come. When twice so large a share of what
# was waiting waits again after micro-batches, more of them would not make it less.
_MOST_LEFT = 0.5
_MOST_ROUNDS_IN_VAIN = 1


class Phase(enum.Enum):
    CATCHING_UP = "catching up"
    LIVE = "live"
    STOPPED = "stopped"


class Query:
    """A query on its checkpoint; `written` has the positions of its output."""

    def __init__(self, plan: Plan, query: QueryId, watch: TopicWatch) -> None:
        self.id = query
        self.table = plan.table_of(query)
        self.topics = plan.topics_of(query)
        self.phase = Phase.STOPPED
        self.written = Positions()
        self.read = self.written if not query.is_join else Positions()
        self._plan = plan
        self._watch = watch
        self._query: StreamingQuery | None = None
        self._has_local_consumers = is_local(plan.settings)
        # Whether its positions are known: on a cluster only joins report them.
        self.is_observed = query.is_join or self._has_local_consumers
        self._group = ""
        self._started = time.monotonic()
        self._waiting = 0  # messages, when micro-batches were started last
        self._rounds_in_vain = 0

    @property
    def reducers(self) -> int:
        return self._plan.reducers_of(self.id)

    @property
    def seconds_since_start(self) -> float:
        return time.monotonic() - self._started

    def start(self) -> None:
        """Start or restart it on its checkpoint; DataError if that is damaged."""
        self._waiting = self._rounds_in_vain = 0
        self._go_on()

    def advance(self) -> Failure | None:
        """Switch to the next mode when one has ended; returns the failure if the query failed."""
        query = self._query
        if query is None:
            return None
        with told_plainly(f"say how query {self.id} is"):
            if query.isActive:
                return None
            failure = failure_of(str(self.id), query)
        if failure is None and self.phase is Phase.CATCHING_UP:
            self._go_on()
        return failure

    def look(self, first: Places) -> None:
        """Read the consumers' positions; `first` are the oldest offsets of the topics."""
        if self._has_local_consumers and self._group:
            self.read.consumed(self._group, self._consumer_leads(), first)
        elif self.phase is Phase.CATCHING_UP:
            self.read.reach(self._committed())

    def look_at_checkpoint(self) -> None:
        """Read the offsets that its last batch committed."""
        self.written.reach(self._committed())

    def stop(self) -> None:
        """Stop it and keep its checkpoint; LinkError if it does not end."""
        if self._query is not None:
            with told_plainly(f"stop query {self.id}"):
                self._query.stop()
        self._query = None
        self.phase = Phase.STOPPED

    def _go_on(self) -> None:
        self._started = time.monotonic()
        edges = self._watch.edges(self.topics)
        committed = self._committed()
        own = Positions()
        own.reach(committed)
        if gone := own.before(edges.first):
            self._pass_over(gone)
            committed = {
                place: max(at, edges.first.get(place, 0)) for place, at in committed.items()
            }
        self.written.begin(committed)
        self.read.begin(committed)
        before, self._waiting = self._waiting, own.left(edges.end)
        self._rounds_in_vain += 0 < before * _MOST_LEFT < self._waiting
        has_caught_up = self._waiting <= (_MOST_LEFT_LIVE if before else _MOST_LIVE)
        self._begin(committed, live=has_caught_up or self._rounds_in_vain > _MOST_ROUNDS_IN_VAIN)

    def _pass_over(self, gone: Sequence[Place]) -> None:
        """Skip messages that were deleted before a new generation read them. A generation that was
        ready before may have joined them already: DataError."""
        commits = self._plan.checkpoint(self.id) / "commits"
        if self._plan.generation.times.ready or any(commits.glob("[0-9]*")):
            raise DataError(lost_input(self.id, gone))

    def _begin(self, starts: Places, *, live: bool) -> None:
        # Consumers of an earlier start may linger, and must not be taken for those of this one.
        self._group = f"{GROUP}-{self.id}-{next(_starts)}"
        self.phase = Phase.LIVE if live else Phase.CATCHING_UP
        with told_plainly(f"start query {self.id}"):
            self._query = self._plan.start(self.id, _by_topic(starts), self._group, live=live)

    def _consumer_leads(self) -> Places:
        """Messages between a topic's start and its consumer, at its last fetch, maybe long ago.

        In real-time mode Spark reports a query's progress only when its batch ends, minutes later.
        Its Kafka consumers publish their distance from a topic's start (the lead) as Java
        management beans, which can be read if Spark's tasks run in the driver's process.
        """
        with told_plainly("say how far its queries are"):
            lines: str = engine_classes(self._plan.spark).ConsumerLeads.of(self._group)
        known = by_bean_name(self.topics)
        found = (line.split(" ") for line in lines.splitlines())
        return {(known[name], int(part)): int(lead) for name, part, lead in found if name in known}

    def _committed(self) -> Places:
        return {
            (topic, partition): offset
            for topic, offsets in positions(self._plan, self.id).items()
            for partition, offset in offsets.items()
        }


def lost_input(query: QueryId, gone: Sequence[Place]) -> str:
    """Why a query cannot go on whose next messages are gone."""
    names = ", ".join(sorted({topic for topic, _ in gone}))
    return (
        f"query {query.name} lost its input: messages of topic {names} were deleted before they "
        "were read"
    )


def by_bean_name(topics: Iterable[str]) -> Mapping[str, str]:
    """Topics by their name in a bean: older clients write `_` for every `.`."""
    return {name: topic for topic in topics for name in (topic, topic.replace(".", "_"))}


def _by_topic(places: Places) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for (topic, partition), offset in places.items():
        found.setdefault(topic, {})[partition] = offset
    return found
