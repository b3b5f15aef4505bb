"""The queries that run, each with its restarts; generations that share a raw table share its query.

A query that fails is restarted on its checkpoint with growing waits. One that fails again and
again, with Kafka well and room on the disk, or that has lost its input or its state, cannot go on.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Mapping

from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.join_reports import ReportReader
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.topics import Edges, TopicWatch
from evergrid.model.errors import DataError, LinkError
from evergrid.pipeline.plan import Plan, QueryId, queries_of
from evergrid.pipeline.query_failures import DISK_FULL, Cause, Failure, cause_of
from evergrid.pipeline.query_positions import Places
from evergrid.pipeline.streaming_query import Phase, Query, lost_input
from evergrid.process.backoff import Backoff

_FIRST_WAIT_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 30.0
# A query that fails so often in a row, while Kafka works, has a damaged checkpoint.
_MOST_FAILURES = 5
_CALM_SECONDS = 120.0  # after running this long, a failed query restarts with the shortest wait
_LEAST_ROOM_BYTES = 64 << 20
_STEADY_SECONDS = 15.0  # a restarted query that fails again for the same reason fails by then
_QUIET_SECONDS = 2.0
_GONE_SECONDS = 15.0  # a consumer reports its position with a delay
# Micro-batches are so much cheaper that it pays to begin again from the checkpoint.
_MOST_BEHIND = 1_000_000
_LEAST_RUN_SECONDS = 60.0

Say = Callable[[str], None]


class SupervisedQuery:
    """One query, the generations that use it, and its restarts."""

    def __init__(self, query: Query, settings: Settings, reports: ReportReader, say: Say) -> None:
        self.id, self.table, self.topics = query.id, query.table, query.topics
        self.written, self.read = query.written, query.read
        self.is_observed = query.is_observed
        self.users: set[int] = set()
        self.lost = ""  # why it cannot go on
        self._query = query
        self._settings = settings
        self._reports = reports
        self._say = say
        self._backoff = Backoff(_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
        self.has_failed = False  # it waits to be started again
        self._failures = 0
        self._restarted = False
        self._ends: Places = {}
        self._ends_at = 0.0
        self._batch = ("", -1)
        self._gone_at: float | None = None

    @property
    def is_live(self) -> bool:
        """Whether it runs in real-time mode."""
        return self._query.phase is Phase.LIVE and not self.has_failed

    @property
    def is_catching_up(self) -> bool:
        return self._query.phase is Phase.CATCHING_UP and not self.has_failed

    @property
    def is_unsteady(self) -> bool:
        """Whether it has failed, or was restarted a moment ago."""
        is_young = self._query.seconds_since_start < _STEADY_SECONDS
        return self.has_failed or (self._restarted and is_young)

    def start(self) -> None:
        """DataError when its checkpoint is damaged."""
        self._reports.end_run(str(self.id))
        try:
            self._query.start()
        except LinkError as error:
            self._restart_later(Failure(str(self.id), cause_of(error.what), error.what))

    def stop(self) -> None:
        """LinkError when it does not end."""
        self.has_failed = False
        self._query.stop()

    def look(self, is_kafka_well: Callable[[], bool]) -> None:
        """Restart it when that is due; `lost` says when it cannot go on."""
        if self.lost:
            return
        try:
            self._look(is_kafka_well)
        except DataError as error:
            self.lost = error.sentence()

    def _look(self, is_kafka_well: Callable[[], bool]) -> None:
        if not self.has_failed:
            failed = self._query.advance()
            if failed is not None:
                failure = self._with_its_cause(failed)
                if failure.cause is Cause.LOST:
                    self.lost = f"query {self.id.name} lost its input or its state ({failure.text})"
                    return
                self._restart_later(failure)
        if self._failures >= _MOST_FAILURES:
            if is_kafka_well():
                self.lost = f"query {self.id.name} failed {self._failures} times in a row"
                return
            self._failures = 0
        if self.has_failed and self._backoff.is_due():
            self.has_failed = False
            self._restarted = True
            self.start()

    def forgive(self) -> None:
        """Kafka was away: failures meanwhile say nothing of the query."""
        self._failures = 0

    def observe(self, edges: Edges) -> None:
        """Find out how far it has come."""
        edges = Edges(_of(edges.first, self.topics), _of(edges.end, self.topics))
        self._query.look(edges.first)
        self._look_for_lost_input(edges.first)
        if not self.id.is_join or self._query.phase is not Phase.LIVE:
            return
        name = str(self.id)
        if (batch := self._reports.batch(name)) != self._batch:
            self._batch = batch
            self._query.look_at_checkpoint()  # the batch before may not have reported its last
        joined = self._reports.joined(name)
        self.written.reach({(self.topics[side], part): at for (side, part), at in joined.items()})
        self._pass_what_holds_no_message(edges.end)

    def _look_for_lost_input(self, first: Places) -> None:
        """Real-time mode waits for messages that were deleted before it read them, and says
        nothing."""
        gone = self.read.before(first) if self.is_live else []
        if not gone:
            self._gone_at = None
        elif self._gone_at is None:
            self._gone_at = time.monotonic()
        elif time.monotonic() - self._gone_at > _GONE_SECONDS:
            self.lost = lost_input(self.id, gone)

    def _pass_what_holds_no_message(self, ends: Places) -> None:
        """Offsets at the end of a partition may have no message: transactions and compaction leave
        such. The consumers have passed them, and nothing is on its way to a reducer."""
        now = time.monotonic()
        if ends != self._ends or self.read.left(ends) or not self.written.left(ends):
            self._ends, self._ends_at = ends, now
        elif now - self._ends_at > _QUIET_SECONDS and self._reports.is_quiet(
            str(self.id), self._query.reducers, self._ends_at + 1.0
        ):
            self.written.reach(ends)

    def catch_up_if_far_behind(self, left: int) -> None:
        """Read what a long pause has left in micro-batches instead."""
        ran = self._query.seconds_since_start
        if self.is_live and left > _MOST_BEHIND and ran > _LEAST_RUN_SECONDS:
            self._say(f"Query {self.id.name} is {left:,} messages behind: catching up.")
            self.restart()

    def restart(self) -> None:
        """Stop it and start it again; LinkError when it does not end."""
        self.stop()
        try:
            self.start()
        except DataError as error:
            self.lost = error.sentence()

    def _restart_later(self, failure: Failure) -> None:
        if self._query.seconds_since_start > _CALM_SECONDS:
            self._backoff.reset()
            self._failures = 0
        if failure.cause is not Cause.UNWRITTEN:
            self._failures += 1
        wait = self._backoff.failed()
        self.has_failed = True
        self._say(f"Query {self.id.name} failed ({failure.text}); restarting in {wait:.0f} s.")

    def _with_its_cause(self, failure: Failure) -> Failure:
        """Spark does not say that a full disk is the reason."""
        folder = self._settings.data_dir
        if shutil.disk_usage(folder).free > _LEAST_ROOM_BYTES:
            return failure
        return Failure(failure.query, Cause.UNWRITTEN, f"{DISK_FULL}: {folder}")


class QueryPool:
    """All queries of a pipeline; the main thread and one that prepares a generation use it."""

    def __init__(self, settings: Settings, reports: ReportReader, say: Say) -> None:
        self._settings = settings
        self._reports = reports
        self._say = say
        self._watch = TopicWatch(settings.kafka.source)
        self._queries: dict[QueryId, SupervisedQuery] = {}
        self._lock = threading.RLock()

    def acquire(self, plan: Plan) -> list[SupervisedQuery]:
        """The queries of a generation; those that do not run yet are started.

        DataError when a checkpoint is damaged; then none of them is left running for it.
        """
        number, queries = plan.generation.number, queries_of(plan.generation)
        with self._lock:
            try:
                for query in queries:
                    self._acquire(plan, query, number)
            except DataError:
                with contextlib.suppress(LinkError):
                    self.release(number)
                raise
            return [self._queries[query] for query in queries]

    def _acquire(self, plan: Plan, query: QueryId, number: int) -> None:
        known = self._queries.get(query)
        if known is not None:
            known.users.add(number)
            return
        made = SupervisedQuery(
            Query(plan, query, self._watch), self._settings, self._reports, self._say
        )
        made.users.add(number)
        self._queries[query] = made
        made.start()

    def release(self, number: int) -> None:
        """Stop the queries that only this generation uses. LinkError when one does not end; the
        others are stopped all the same."""
        failed: list[LinkError] = []
        with self._lock:
            for query in [one for one in self._queries.values() if number in one.users]:
                if len(query.users) > 1:
                    query.users.discard(number)
                    continue
                try:
                    query.stop()
                except LinkError as error:
                    failed.append(error)
                else:
                    del self._queries[query.id]
        if failed:
            raise failed[0]

    def restart(self, number: int) -> None:
        """Stop and start a generation's queries: only a new batch sees new partitions."""
        with self._lock:
            for query in [one for one in self._queries.values() if number in one.users]:
                query.restart()

    def look(self, queries: list[SupervisedQuery]) -> str:
        """Restart failed queries; returns why the first one that cannot go on cannot."""
        with self._lock:
            for query in queries:
                query.look(self._is_kafka_well)
            return next((query.lost for query in queries if query.lost), "")

    def observe(self, queries: list[SupervisedQuery], edges: Edges) -> None:
        """Find out how far queries have come."""
        with self._lock:
            for query in queries:
                query.observe(edges)

    def catch_up_what_is_far_behind(self, left: Mapping[QueryId, int]) -> None:
        with self._lock:
            for query, count in left.items():
                if query in self._queries:
                    self._queries[query].catch_up_if_far_behind(count)

    def _is_kafka_well(self) -> bool:
        """Whether the broker answers, so that a failure is the query's own."""
        prefix = self._settings.internal_topics.prefix
        try:
            topics.describe(self._settings.kafka.internal, [manifest_topic(prefix)])
        except LinkError:
            return False
        return True


def _of(places: Places, names: tuple[str, ...]) -> Places:
    return {place: offset for place, offset in places.items() if place[0] in names}
