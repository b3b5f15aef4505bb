"""Bring a new generation up to now: its state, and the changelogs of all history.

For each join, on the generation's own checkpoint:

1. Catch up: micro-batches fill the state; what they would emit is not used.
2. Take the end offsets that the checkpoint then holds.
3. Join all history up to exactly there in one batch, without a bound, and write it.

Real-time mode then goes on from those offsets, so no message is left out and none is
counted twice. Raw tables have no state: their history is one batch up to the offsets
where ingest will begin. Every step gives the same rows under the same ids when it is
done again, so a bootstrap that was cut off is simply repeated from an empty checkpoint.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from evergrid.kafka import topics
from evergrid.model.errors import LinkError
from evergrid.model.generation import Progress, TableTopic
from evergrid.model.join import Join, JoinType
from evergrid.model.source import Edge, Source
from evergrid.pipeline.checkpoint import claim
from evergrid.pipeline.failures import failure_of, told_plainly
from evergrid.pipeline.plan import Plan, join_query
from evergrid.pipeline.retention import worth_writing
from evergrid.pipeline.sink import catch_up
from evergrid.pipeline.sources import Offsets, offsets_from_json

Report = Callable[[Progress], None]

_LOOK_SECONDS = 1
# Of one source: large enough to be quick, small enough to show progress.
_ROWS_PER_BATCH = 250_000


def bootstrap(plan: Plan, report: Report) -> None:
    """Fill every table of the generation with its history.

    Whatever `report` raises ends it; so does `call_off`, from another thread.
    """
    shutil.rmtree(plan.folder, ignore_errors=True)
    claim(plan.folder, plan.generation)
    group = _job_group(plan)
    with told_plainly("prepare the past"):
        plan.spark.sparkContext.setJobGroup(group, group, interruptOnCancel=True)
        for join in plan.generation.joins.values():
            _bootstrap_join(plan, join, report)
        for source in plan.generation.sources.values():
            _bootstrap_source(plan, source, report)


def call_off(plan: Plan) -> None:
    """End the batch jobs of a bootstrap that another thread is busy with."""
    with told_plainly("end a preparation"):
        plan.spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(_job_group(plan))


def has_rows(plan: Plan, source: Source) -> bool:
    """Whether any message of its history becomes a row, old as it may be."""
    if not _messages(plan, source):
        return False
    changes = plan.ingest_history(source)
    target = plan.generation.tables[source.table]
    with told_plainly("look at the past"):
        return not changes.where(changes["topic"] == target.topic).isEmpty()


def has_messages(plan: Plan, source: Source) -> bool:
    """Whether there is any history: compaction and transactions leave offsets without messages."""
    if not _messages(plan, source):
        return False
    with told_plainly("look at the past"):
        return not plan.ingest_history(source).isEmpty()


def _job_group(plan: Plan) -> str:
    return f"bootstrap of generation {plan.generation.number}"


def _bootstrap_join(plan: Plan, join: Join, report: Report) -> None:
    total = sum(_messages(plan, source) for source in plan.sources_of(join))
    if not total:
        return  # nothing to catch up with: real-time mode begins where the topics begin
    query = catch_up(
        plan.catching_up(join, _ROWS_PER_BATCH),
        plan.query_name(join_query(join)),
        plan.checkpoint(join_query(join)),
    )
    try:
        _follow(query, f"catching up with the past of {join.table}", total, report)
    finally:
        if query.isActive:
            query.stop()
    ends = _ends(plan, join, query)
    rows = {
        source.name: _count(plan.generation.topics[source.name].start, ends[source.name])
        for source in plan.sources_of(join)
    }
    driving = rows[join.source_of(join.driving)]
    at_most = None if join.type is JoinType.INNER else driving
    target = plan.generation.tables[join.table]
    changes = worth_writing(plan.join_history(join, ends), target.table.retention, at_most)
    _write(plan, changes, target, driving, report)


def _bootstrap_source(plan: Plan, source: Source, report: Report) -> None:
    messages = _messages(plan, source)
    if not messages:
        return
    target = plan.generation.tables[source.table]
    kept, kept_bad = target.table.retention, plan.settings.quarantine().retention
    changes = plan.ingest_history(source)
    if kept == kept_bad and (kept.rows is None or messages <= kept.rows):
        changes = worth_writing(changes, kept, messages)
    else:  # rows and quarantine lose different parts of the past, so it is read for each
        rows = changes.where(changes["topic"] == target.topic)
        bad = changes.where(changes["topic"] != target.topic)
        changes = worth_writing(rows, kept, messages).unionByName(
            worth_writing(bad, kept_bad, messages)
        )
    _write(plan, changes, target, messages, report)


def _write(
    plan: Plan, changes: DataFrame, target: TableTopic, expected: int, report: Report
) -> None:
    with _counting(plan, target, expected, report):
        plan.sink.at_once(changes)


def _follow(query: StreamingQuery, step: str, total: int, report: Report) -> None:
    finished = False
    while not finished:
        finished = bool(query.awaitTermination(_LOOK_SECONDS))
        done = sum(progress["numInputRows"] for progress in query.recentProgress)
        report(Progress(step, min(done, total), total))
    failure = failure_of(str(query.name), query)
    if failure is not None:
        raise LinkError(
            f"Spark could not read the past: {failure.text}", where=f"query {query.name}"
        )


def _ends(plan: Plan, join: Join, query: StreamingQuery) -> Mapping[str, Offsets]:
    """Where the checkpoint stands now, per source; where it began if there was nothing."""
    ends = {
        source.name: plan.generation.topics[source.name].start for source in plan.sources_of(join)
    }
    last = query.lastProgress
    if last is not None:
        for source, progress in zip(plan.sources_of(join), last["sources"], strict=True):
            ends[source.name] = offsets_from_json(progress["endOffset"], source.topic)
    return ends


@contextmanager
def _counting(plan: Plan, target: TableTopic, expected: int, report: Report) -> Iterator[None]:
    """Report how many changes have reached a changelog while a batch job writes them."""
    connection = plan.settings.kafka.internal
    step = f"writing the past of {target.table.name}"
    before: int | None = None
    with suppress(LinkError):  # the job itself will say what is wrong
        before = sum(topics.offsets(connection, target.topic, Edge.LATEST).values())
    report(Progress(step, 0, expected))
    written = threading.Event()

    def count() -> None:
        while before is not None and not written.wait(_LOOK_SECONDS):
            try:
                now = sum(topics.offsets(connection, target.topic, Edge.LATEST).values())
            except LinkError:
                continue  # the job itself will say what is wrong
            try:
                report(Progress(step, min(now - before, expected), expected))
            except Exception:
                return  # called off: the job is ended, and says so to who waits for it

    counter = threading.Thread(target=count, name="bootstrap-progress", daemon=True)
    counter.start()
    try:
        yield
    finally:
        written.set()
        counter.join()


def _messages(plan: Plan, source: Source) -> int:
    topic = plan.generation.topics[source.name]
    return _count(topic.start, topic.live)


def _count(start: Offsets, end: Offsets) -> int:
    return sum(offset - start.get(partition, 0) for partition, offset in end.items())
