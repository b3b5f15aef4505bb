"""The real-time queries of one generation while it runs."""

from __future__ import annotations

import itertools
import time

from pyspark.sql.streaming.query import StreamingQuery

from evergrid.model.errors import LinkError
from evergrid.pipeline.failures import Failure, failure_of, told_plainly
from evergrid.pipeline.plan import Plan
from evergrid.pipeline.sources import GROUP

_starts = itertools.count(1)


class RunningQueries:
    """Starts a generation's queries, restarts single ones, and tells which have failed."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._queries: dict[str, StreamingQuery] = {}
        self._started: dict[str, float] = {}
        self.groups: dict[str, str] = {}  # what the names of their consumer groups begin with

    def start(self, name: str) -> None:
        """(Re)start one query on its checkpoint."""
        self._started[name] = time.monotonic()
        # Consumers of an earlier start may linger, and must not be taken for those of this one.
        group = self.groups[name] = f"{GROUP}-{self._plan.query_name(name)}-{next(_starts)}"
        with told_plainly(f"start query {name}"):
            self._queries[name] = self._plan.sink.live(
                self._plan.live(name, group),
                self._plan.query_name(name),
                self._plan.checkpoint(name),
                self._plan.settings.spark.batch_seconds,
            )

    def failures(self) -> list[Failure]:
        """The queries that ended by themselves."""
        with told_plainly("say how its queries are"):
            return self._failures()

    def _failures(self) -> list[Failure]:
        ended = [(name, query) for name, query in self._queries.items() if not query.isActive]
        return [failure for name, query in ended if (failure := failure_of(name, query))]

    def seconds_since_start(self, name: str) -> float:
        return time.monotonic() - self._started[name]

    def stop_all(self) -> None:
        """LinkError when one does not end; the others are stopped all the same."""
        failed: list[LinkError] = []
        for query in self._queries.values():
            try:
                with told_plainly("stop its queries"):
                    query.stop()
            except LinkError as error:
                failed.append(error)
        if failed:
            raise failed[0]
        self._queries.clear()
