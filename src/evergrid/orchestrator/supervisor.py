"""Watches a running generation: restarts what fell over, and says when it cannot go on.

It also knows since when the generation's tables are old, whatever the reason: a query that is
down, a source that cannot be reached, or a machine that is too busy.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping

from evergrid.changelog.manifest import OLD_SECONDS, Behind
from evergrid.changelog.names import manifest_topic
from evergrid.kafka import topics
from evergrid.kafka.topics import TopicInfo, TopicWatch
from evergrid.model.errors import LinkError
from evergrid.model.generation import Generation
from evergrid.orchestrator.decide import changed_topic, grown_topics, missing_topics
from evergrid.orchestrator.generations import now
from evergrid.pipeline.failures import DISK_FULL, Cause, Failure, cause_of
from evergrid.pipeline.freshness import Freshness
from evergrid.pipeline.plan import Plan
from evergrid.pipeline.reading import Reading
from evergrid.pipeline.running import RunningQueries
from evergrid.pipeline.session import is_local

_TOPICS_SECONDS = 5.0
_LONGEST_WAIT_SECONDS = 30.0
# A query that falls so often in a row, with Kafka well, has a checkpoint that is damaged in
# a way nobody has named.
_MOST_FALLS = 5
_CALM_SECONDS = 120.0  # a query that ran this long starts again with the shortest wait
_LEAST_ROOM_BYTES = 64 << 20
_STEADY_SECONDS = 15.0  # what falls again for the same reason has fallen by then


class Supervisor:
    """One generation's guard."""

    def __init__(self, plan: Plan, say: Callable[[str], None], fresh_at: int) -> None:
        """Its tables had everything at `fresh_at`, in microseconds since the epoch."""
        self.reading: Reading | None = None  # on a cluster, consumers are on other machines
        self._freshness: Freshness | None = None
        self._fresh_at = fresh_at
        self._plan = plan
        self._say = say
        self._watch = TopicWatch(plan.settings.kafka.source)
        self._queries = RunningQueries(plan)
        self._waits: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._falls: dict[str, int] = {}
        self._trouble = ""
        self._next_look = 0.0
        self._partitions: Mapping[str, int] = {}

    def start(self) -> None:
        """DataError when its checkpoints are damaged."""
        if is_local(self._plan.settings):
            self.reading = Reading(self._plan, self._watch, lambda: self._queries.groups)
            self._freshness = Freshness(self.reading, self._fresh_at)
        self._partitions = {name: info.partitions for name, info in self._source_topics().items()}
        self._start_all()

    @property
    def generation(self) -> Generation:
        return self._plan.generation

    @property
    def fallen(self) -> tuple[str, ...]:
        """Queries that wait to be started again."""
        return tuple(self._due)

    @property
    def behind(self) -> Behind:
        """Since when its tables are old, and why; no word of topics, as everyone reads it."""
        if now() - self._fresh_at < OLD_SECONDS * 1e6:
            return Behind()
        if self._trouble:
            why = "The pipeline cannot read its sources; its log says why."
        elif self._is_unsteady():
            why = "A part of the pipeline fell over, and is started again."
        elif self._freshness and self._freshness.left:
            why = f"The pipeline has {self._freshness.left:,} messages still to read."
        else:
            why = "The pipeline's queries do not answer."
        return Behind(self._fresh_at, why)

    def look(self) -> str:
        """Restart what fell over; returns the reason when the generation cannot go on."""
        lost = self._look_at_queries()
        if not lost and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _TOPICS_SECONDS
            lost = self._look_at_topics()
        if lost:
            self._queries.stop_all()
        return lost

    def stop(self) -> None:
        """Stop its queries; their checkpoints stay."""
        self._queries.stop_all()

    def _look_at_queries(self) -> str:
        for failed in self._queries.failures():
            if failed.query in self._due:
                continue  # judged by what was so when it fell
            failure = self._with_its_cause(failed)
            if failure.cause is Cause.LOST:
                told = f"query {failure.query} lost its input or its state ({failure.text})"
                return self._another_topic() or told
            self._restart_later(failure)
        fallen = [name for name, falls in self._falls.items() if falls >= _MOST_FALLS]
        if fallen and self._is_kafka_well():
            return f"query {', '.join(fallen)} does not get up again (see spark.log)"
        for name, due in list(self._due.items()):
            if time.monotonic() >= due:
                del self._due[name]
                self._start(name)
        return ""

    def _start_all(self) -> None:
        self._due.clear()
        for name in self._plan.queries():
            self._start(name)

    def _start(self, name: str) -> None:
        try:
            self._queries.start(name)
        except LinkError as error:
            self._restart_later(Failure(name, cause_of(error.what), error.what))

    def _restart_later(self, failure: Failure) -> None:
        ran = self._queries.seconds_since_start(failure.query)
        if ran > _CALM_SECONDS:
            self._waits.pop(failure.query, None)
            self._falls.pop(failure.query, None)
        if failure.cause is not Cause.UNWRITTEN:
            self._falls[failure.query] = self._falls.get(failure.query, 0) + 1
        last = self._waits.get(failure.query, 0.0)
        wait = min(_LONGEST_WAIT_SECONDS, 2 * last or 1.0)
        self._waits[failure.query] = wait
        self._due[failure.query] = time.monotonic() + wait
        self._say(f"Query {failure.query} fell over ({failure.text}); again in {wait:.0f} s.")

    def _look_at_topics(self) -> str:
        generation = self._plan.generation
        try:
            found = self._source_topics()
            missing = missing_topics(generation.sources, found)
            if not missing:
                self._look_how_fresh()
        except LinkError as error:
            self._note(f"{error.sentence()} Going on when it is back.")
            return ""
        if missing:
            self._note(f"Topic {', '.join(missing)} does not exist any more. Waiting for it.")
            return ""
        self._note("")
        grown = grown_topics(generation, found, self._partitions)
        if grown:
            self._say(f"Topic {', '.join(grown)} has more partitions: reading them too.")
            # Only a new batch sees partitions that the running one does not.
            self._queries.stop_all()
            self._start_all()
            self._partitions = {name: info.partitions for name, info in found.items()}
        return changed_topic(generation, found)

    def _look_how_fresh(self) -> None:
        if self._is_unsteady():
            return  # what it has read it may not have written
        if self._freshness is None:
            self._fresh_at = now()
            return
        self._freshness.look()
        self._fresh_at = self._freshness.at

    def _with_its_cause(self, failure: Failure) -> Failure:
        """Without room on the disk a state cannot even be read, and Spark does not say why."""
        folder = self._plan.settings.data_dir
        if shutil.disk_usage(folder).free > _LEAST_ROOM_BYTES:
            return failure
        return Failure(failure.query, Cause.UNWRITTEN, f"{DISK_FULL}: {folder}")

    def _is_unsteady(self) -> bool:
        """Whether a query is down, or was until just now; asked by another thread, too."""
        return bool(self._due) or any(
            self._queries.seconds_since_start(name) < _STEADY_SECONDS for name in tuple(self._waits)
        )

    def _is_kafka_well(self) -> bool:
        """Whether it is the queries' own fault that they fall; else they begin anew."""
        if self._trouble:
            return False
        settings = self._plan.settings
        try:
            topics.describe(
                settings.kafka.internal, [manifest_topic(settings.internal_topics.prefix)]
            )
        except LinkError:
            self._falls.clear()
            return False
        return True

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
            self._falls.clear()  # those while it was away say nothing of the queries
        self._trouble = trouble

    def _source_topics(self) -> dict[str, TopicInfo]:
        names = [source.topic for source in self._plan.generation.sources.values()]
        return self._watch.describe(names)
