"""The real-time queries of one generation while it runs."""

from __future__ import annotations

import time

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from evergrid.pipeline.failures import Failure, failure_of, told_plainly
from evergrid.pipeline.plan import INGEST, Plan, join_query


class RunningQueries:
    """Starts a generation's queries, restarts single ones, and tells which have failed."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._queries: dict[str, StreamingQuery] = {}
        self._started: dict[str, float] = {}

    def start(self, name: str) -> None:
        """(Re)start one query on its checkpoint."""
        self._started[name] = time.monotonic()
        with told_plainly(f"start query {name}"):
            self._queries[name] = self._plan.sink.live(
                self._changes(name),
                name,
                self._plan.checkpoint(name),
                self._plan.settings.spark.batch_seconds,
            )

    def _changes(self, name: str) -> DataFrame:
        if name == INGEST:
            return self._plan.live_ingest()
        joins = self._plan.generation.joins.values()
        return self._plan.live_join(next(join for join in joins if join_query(join) == name))

    def failures(self) -> list[Failure]:
        """The queries that ended by themselves."""
        with told_plainly("say how its queries are"):
            return self._failures()

    def _failures(self) -> list[Failure]:
        ended = [query for query in self._queries.values() if not query.isActive]
        return [failure for query in ended if (failure := failure_of(query)) is not None]

    def seconds_since_start(self, name: str) -> float:
        return time.monotonic() - self._started[name]

    def stop_all(self) -> None:
        for query in self._queries.values():
            query.stop()
        self._queries.clear()
