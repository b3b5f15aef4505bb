"""Watches a running generation: its queries, its source topics, and how fresh its tables are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from evergrid.changelog.manifest import TablesBehind
from evergrid.kafka.topics import Edges, TopicInfo, TopicWatch
from evergrid.model.errors import LinkError
from evergrid.model.generation import Generation
from evergrid.orchestrator.generation_rules import changed_topic, grown_topics, missing_topics
from evergrid.orchestrator.generations import now
from evergrid.orchestrator.query_pool import QueryPool, SupervisedQuery
from evergrid.pipeline.plan import Plan, QueryId
from evergrid.pipeline.query_positions import Freshness, Places, Positions

_TOPICS_SECONDS = 5.0
_FRESH_SECONDS = 1.0
# Tables that are this far behind their topics are reported as stale.
STALE_SECONDS = 6.0


class Supervisor:
    """Keeps one generation's queries running, and knows how far behind its tables are."""

    def __init__(
        self, plan: Plan, pool: QueryPool, say: Callable[[str], None], fresh_at: int
    ) -> None:
        """Its tables had everything at `fresh_at`, in microseconds since the epoch."""
        self._plan = plan
        self._pool = pool
        self._say = say
        self._watch = TopicWatch(plan.settings.kafka.source)
        self._fresh_at = fresh_at
        self._queries: list[SupervisedQuery] = []
        self._freshness: dict[QueryId, Freshness] = {}
        self._trouble = ""
        self._topics_at = self._fresh_look_at = 0.0
        self._started_at = 0
        self._partitions: Mapping[str, int] = {}

    def start(self) -> None:
        """DataError when its checkpoints are damaged."""
        self._partitions = {name: info.partitions for name, info in self._source_topics().items()}
        self._started_at = now()
        queries = self._pool.acquire(self._plan)
        # Another thread may ask for `behind` now: its queries come last.
        self._freshness = {one.id: Freshness(one.written, self._fresh_at) for one in queries}
        self._queries = queries

    @property
    def generation(self) -> Generation:
        return self._plan.generation

    @property
    def failed(self) -> tuple[str, ...]:
        """Queries that wait to be started again."""
        return tuple(query.id.name for query in self._queries if query.has_failed)

    @property
    def is_live(self) -> bool:
        """Whether all its queries have caught up with the past and run in real-time mode."""
        return all(query.is_live for query in self._queries)

    @property
    def has_caught_up(self) -> bool:
        """Whether its tables have had everything at some moment since it was started."""
        return self.is_live and all(self._at(query) > self._started_at for query in self._queries)

    @property
    def is_catching_up(self) -> bool:
        """Whether a query works in micro-batches, which say little before they end."""
        return any(query.is_catching_up for query in self._queries)

    @property
    def behind(self) -> TablesBehind:
        """Since when its tables are old, and why; no word of topics, as everyone reads it.

        Asked by another thread, too.
        """
        oldest = now() - int(STALE_SECONDS * 1e6)
        if not self._queries:
            return TablesBehind(self._fresh_at, "The pipeline is starting.")
        late = [query for query in self._queries if self._at(query) < oldest]
        if not late:
            return TablesBehind()
        since = min(self._at(query) for query in late)
        tables = () if len(late) == len(self._queries) else tuple(query.table for query in late)
        return TablesBehind(since, self._why(late), tables)

    def _at(self, query: SupervisedQuery) -> int:
        return self._freshness[query.id].at

    def _why(self, late: list[SupervisedQuery]) -> str:
        left = max(self._freshness[query.id].left for query in late)
        if self._trouble:
            return "The pipeline cannot read its sources; its log says why."
        if any(query.is_unsteady for query in late):
            return "A part of the pipeline failed, and is started again."
        if any(not query.is_live for query in late):
            return f"The pipeline is catching up: {left:,} messages are left."
        if left:
            return f"The pipeline has {left:,} messages still to write."
        return "The pipeline's queries do not answer."

    def look(self) -> str:
        """Restart what failed; returns the reason when the generation cannot go on."""
        lost = self._pool.look(self._queries)
        if lost:
            lost = self._another_topic() or lost
        elif time.monotonic() >= self._topics_at:
            self._topics_at = time.monotonic() + _TOPICS_SECONDS
            lost = self._look_at_topics()
        if not lost and not self._trouble and time.monotonic() >= self._fresh_look_at:
            self._fresh_look_at = time.monotonic() + _FRESH_SECONDS
            self._look_how_fresh()
        if lost:
            self.stop()
        return lost

    def observe(self) -> Places:
        """Find out how far its queries have come; returns the ends of their topics just before."""
        edges: Edges = self._watch.edges({t for query in self._queries for t in query.topics})
        self._pool.observe(self._queries, edges)
        return edges.end

    def left(self, ends: Places) -> int:
        """How many messages before these ends are still to be written, each counted once."""
        return self._most_left(ends, lambda query: query.written)

    def unread(self, ends: Places) -> int:
        """How many messages before these ends are still to be read, each counted once."""
        return self._most_left(ends, lambda query: query.read)

    def _most_left(self, ends: Places, of: Callable[[SupervisedQuery], Positions]) -> int:
        observed = [query for query in self._queries if query.is_observed]
        return sum(
            max((of(one).left({at: end}) for one in observed if at[0] in one.topics), default=0)
            for at, end in ends.items()
        )

    def stop(self) -> None:
        """Stop its queries, but for those that another generation uses; checkpoints stay."""
        self._pool.release(self.generation.number)

    def _look_at_topics(self) -> str:
        generation = self._plan.generation
        try:
            found = self._source_topics()
        except LinkError as error:
            self._note(f"{error.sentence()} Going on when it is back.")
            return ""
        if missing := missing_topics(generation.sources, found):
            self._note(f"Topic {', '.join(missing)} does not exist any more. Waiting for it.")
            return ""
        self._note("")
        if grown := grown_topics(generation, found, self._partitions):
            self._say(f"Topic {', '.join(grown)} has more partitions: reading them too.")
            self._pool.restart(generation.number)
            self._partitions = {name: info.partitions for name, info in found.items()}
        return changed_topic(generation, found)

    def _look_how_fresh(self) -> None:
        try:
            ends = self.observe()
        except LinkError as error:
            self._note(f"{error.sentence()} Going on when it is back.")
            return
        at = now()
        for query in self._queries:
            if not query.is_observed:
                self._freshness[query.id].look(at, {})  # on a cluster it is taken for fresh
            elif not query.has_failed:
                own = {place: end for place, end in ends.items() if place[0] in query.topics}
                self._freshness[query.id].look(at, own)
        left = {query.id: self._freshness[query.id].left for query in self._queries}
        self._pool.catch_up_what_is_far_behind(left)

    def _another_topic(self) -> str:
        """Which topic is another one now, if that is why input was lost."""
        try:
            return changed_topic(self._plan.generation, self._source_topics())
        except LinkError:
            return ""

    def _note(self, trouble: str) -> None:
        """Say a trouble once, and once that it is over."""
        if trouble and trouble != self._trouble:
            self._say(trouble)
        elif self._trouble and not trouble:
            self._say("Kafka and all source topics are there again.")
            for query in self._queries:
                query.forgive()  # failures while Kafka was away say nothing of the queries
        self._trouble = trouble

    def _source_topics(self) -> dict[str, TopicInfo]:
        names = [source.topic for source in self._plan.generation.sources.values()]
        return self._watch.describe(names)
