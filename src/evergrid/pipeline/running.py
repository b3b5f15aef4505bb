"""The real-time queries of one generation while it runs."""

from __future__ import annotations

import time

from pyspark.sql.streaming.query import StreamingQuery

from evergrid.pipeline.failures import Failure, failure_of
from evergrid.pipeline.plan import INGEST, Plan, join_query


class RunningQueries:
    """Starts a generation's queries, restarts single ones, and tells which have failed."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._queries: dict[str, StreamingQuery] = {}
        self._started: dict[str, float] = {}

    def start(self, name: str) -> None:
        """(Re)start one query on its checkpoint."""
        plan = self._plan
        changes = (
            plan.live_ingest()
            if name == INGEST
            else plan.live_join(
                next(join for join in plan.generation.joins.values() if join_query(join) == name)
            )
        )
        self._started[name] = time.monotonic()
        self._queries[name] = plan.sink.live(
            changes, name, plan.checkpoint(name), plan.settings.spark.batch_seconds
        )

    def start_all(self) -> None:
        for name in self._plan.queries():
            self.start(name)

    def failures(self) -> list[Failure]:
        """The queries that ended by themselves."""
        ended = [query for query in self._queries.values() if not query.isActive]
        return [failure for query in ended if (failure := failure_of(query)) is not None]

    def seconds_since_start(self, name: str) -> float:
        return time.monotonic() - self._started[name]

    def restart_all(self) -> None:
        """Begin a new batch, which sees partitions that the running one does not."""
        self.stop_all()
        self.start_all()

    def stop_all(self) -> None:
        for query in self._queries.values():
            query.stop()
        self._queries.clear()
