"""Keeps the wanted generation running, and prepares another beside it when that changes.

Control messages and the configuration say what is wanted. While something else runs, a generation
is prepared; when it is ready, one record of the manifest switches to it:

1.–4. The generation is prepared (`preparation`).
5. The manifest names it as current.
6. The previous one is retiring: its queries run on for a short drain, its topics and checkpoints
   stay for the grace time, so that going back is quick. Then it is removed (`retirement`).

Every turn compares what is with what is wanted, and does what is missing. While the broker of the
internal topics is away it only waits. The next start repairs what a kill at any moment left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NoReturn

import msgspec

from evergrid.broker.jars import Jars
from evergrid.changelog.join_reports import ReportReader
from evergrid.changelog.manifest import SystemTableTopics, TablesBehind
from evergrid.changelog.reader import load_manifest
from evergrid.changelog.writer import ManifestWriter, TableWriter
from evergrid.config.settings import MissingTopics, Settings
from evergrid.kafka import topics
from evergrid.kafka.diagnosis import AccessError, Step
from evergrid.kafka.topics import TopicWatch
from evergrid.model.control_request import Verdict
from evergrid.model.errors import ConfigError, DataError, EvergridError, LinkError
from evergrid.model.generation import Generation, State
from evergrid.orchestrator import generation_rules, generations
from evergrid.orchestrator.control_requests import ControlInbox
from evergrid.orchestrator.heartbeat import Heartbeat, Ticker
from evergrid.orchestrator.ownership import Ownership
from evergrid.orchestrator.pipeline_session import PipelineSession
from evergrid.orchestrator.preparation import (
    Attempts,
    Preparation,
    PreparationCancelled,
    Prepared,
    Task,
    is_passing,
)
from evergrid.orchestrator.query_pool import QueryPool
from evergrid.orchestrator.registry import GapRecorder, Registry, without_unreadable
from evergrid.orchestrator.retirement import Retirement
from evergrid.orchestrator.source_topics import TopicsMissing, await_topics
from evergrid.orchestrator.supervisor import Supervisor
from evergrid.pipeline.plan import Plan

Say = Callable[[str], None]

_TURN_SECONDS = 0.2
_COUNT_SECONDS = 5.0
_LOOK_SECONDS = 1.0
_ASKED_SECONDS = 60.0  # for the control topic, after the start


class Orchestrator:
    """One pipeline process: a Spark session and the generations on it."""

    def __init__(
        self,
        settings: Settings,
        ownership: Ownership,
        jars: Jars,
        say: Say,
        spark_started: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._ownership = ownership
        self._say = say
        self._spark = PipelineSession(settings, jars, say, spark_started)
        connection, prefix = settings.kafka.internal, settings.internal_topics.prefix
        self._own = TopicWatch(connection)
        system = generations.make_system_topics(settings)
        records = ownership.writer
        writer = ManifestWriter(records, prefix)
        writer.write(SystemTableTopics(system))
        self._heartbeat = Heartbeat(writer, self._behind)
        tables = settings.system_tables
        self._registry = Registry(
            settings,
            without_unreadable(load_manifest(connection, prefix), say),
            writer,
            TableWriter(records, system[tables.orchestrator_status]),
        )
        self._ticker = Ticker(connection, prefix)
        self._reports = ReportReader(connection, prefix)
        self._pool = QueryPool(settings, self._reports, say)
        self._gaps = GapRecorder(self._registry, self._reports, say)
        self._retirement = Retirement(settings, self._registry, say)
        verdicts = TableWriter(records, system[tables.control_raw])
        self._inbox = ControlInbox(settings, self._registry, verdicts, say)
        self._requests = self._inbox.requests
        self._current: Supervisor | None = None
        self._preparation: Preparation | None = None
        self._attempts = Attempts()
        self._is_switching = False
        self._is_resuming = False  # the current generation, after a start
        self._reason = self._lost = self._trouble = ""
        heartbeat = self._registry.manifest.heartbeat or generations.now()
        # As long as nothing runs.
        self._without = TablesBehind(heartbeat, "The pipeline is starting.")
        self._count_at = 0.0
        self._began = time.monotonic()

    def run(self) -> NoReturn:
        """Run until stopped from outside (by an exception in this thread)."""
        self._heartbeat.start()
        self._ticker.start()
        self._reports.start()
        self._resume()
        while True:
            self._spark.check()
            self._ownership.check()
            try:
                self._turn()
                self._note("")
            except LinkError as error:
                self._ownership.check()
                self._note(f"{error.sentence()} Going on when that is over.")
                time.sleep(_LOOK_SECONDS)
            time.sleep(_TURN_SECONDS)

    def close(self) -> None:
        self._heartbeat.stop()
        self._ticker.stop()
        self._reports.stop()
        self._spark.close()

    # The start

    def _resume(self) -> None:
        """Continue the current generation if that is possible; the turns do the rest."""
        self._inbox.open()
        self._retirement.clean_up_after_a_crash()
        await_topics(self._settings, self._requests, self._update, self._say)
        current = self._registry.manifest.current_generation
        if current is None:
            return
        self._reason = self._why_not(current)
        if self._reason:
            self._without = _another_is_made(current, self._without.since)
        else:
            self._say(f"Going on with generation {current.number} from its checkpoint.")
            spark = self._spark.session(self._requests.wanted, current)
            plan = Plan(spark, self._settings, current)
            self._current = Supervisor(plan, self._pool, self._say, fresh_at=self._without.since)
            try:
                self._current.start()
            except DataError as error:
                self._lost = str(error)
                return
            self._is_resuming = True
            is_wanted = generation_rules.is_of(current, self._requests.wanted)
            if not is_wanted and not self._requests.cause:
                self._reason = "the configuration has other sources, joins or retention"

    def _update(self) -> None:
        self._ownership.check()
        self._inbox.update()

    def _why_not(self, generation: Generation) -> str:
        """Why a generation cannot continue from its checkpoint; empty if it can."""
        names = [source.topic for source in generation.sources.values()]
        found = topics.describe(self._settings.kafka.source, names)
        return generation_rules.why_not(
            generation, found, generations.has_checkpoints(self._settings, generation)
        )

    # One turn

    def _turn(self) -> None:
        self._inbox.read()
        self._supervise_current()
        self._prepare_what_is_wanted()
        self._inbox.write_verdicts()
        busy = self._preparation.task.number if self._preparation else None
        self._retirement.turn(busy)
        self._gaps.turn()
        self._count()

    def _supervise_current(self) -> None:
        """Keep the current generation running, and report when that is impossible."""
        if self._current is None:
            return
        self._lost = self._lost or self._current.look()
        if not self._lost:
            if self._is_resuming and self._current.has_caught_up:
                self._is_resuming = False
                self._say_live(self._current.generation)
            return
        generation = self._registry.manifest.generations[self._current.generation.number]
        self._registry.put(generations.ended(generation, State.FAILED, self._lost))
        self._say(f"Generation {generation.number} cannot go on: {self._lost}. Starting another.")
        self._current, self._reason, self._lost = None, self._lost, ""
        self._without = _another_is_made(generation, generations.now())

    def _prepare_what_is_wanted(self) -> None:
        """Prepare what is wanted, unless it runs or is being prepared."""
        wanted = self._requests.wanted
        if self._preparation is not None:
            if self._preparation.task.settings != wanted:
                self._preparation.call_off()
            if self._preparation.outcome is not None:
                self._finish(self._preparation)
        elif self._current is not None and generation_rules.is_of(self._current.generation, wanted):
            self._settle_what_runs(self._current.generation.number)
        elif self._attempts.are_due(wanted) and not self._may_have_been_asked_for():
            self._prepare(wanted)

    def _may_have_been_asked_for(self) -> bool:
        """Whether an unread message asked for what runs: the pipeline was killed between the
        switch and the verdict."""
        is_long_ago = time.monotonic() - self._began > _ASKED_SECONDS
        if self._current is None or self._inbox.has_read or is_long_ago:
            return False
        cause = self._registry.manifest.generations[self._current.generation.number].cause
        return bool(cause) and not self._requests.has_settled(cause)

    def _settle_what_runs(self, number: int) -> None:
        if not self._requests.cause:
            return
        current = self._registry.manifest.generations[number]
        if current.cause == self._requests.cause:  # applied, and then the pipeline was killed
            self._requests.settle(Verdict.APPLIED, "", number)
        else:
            reason = f"Generation {number}, which runs, is just that."
            self._requests.settle(Verdict.IGNORED, reason, number)

    def _prepare(self, wanted: Settings) -> None:
        current = self._current.generation if self._current else None
        try:
            kept = self._kept_for(wanted)
            spark = self._spark.session(wanted, current)
            self._spark.check_room(wanted, current)
        except (ConfigError, LinkError) as error:
            self._failed(error, None)
            return
        self._retirement.make_room(kept.number if kept else None)
        number = kept.number if kept else self._new_number()
        why = f" because {self._reason}" if self._reason else ""
        if self._requests.cause:
            why = f", asked for by control message {self._requests.cause}"
        self._say(f"Preparing generation {number}{why}.")
        self._requests.preparing(number)
        task = Task(wanted, self._requests.cause, number, kept, current)
        self._preparation = Preparation(task, spark, self._pool, self._registry, self._say)

    def _kept_for(self, wanted: Settings) -> Generation | None:
        candidates = generation_rules.kept_for(self._registry.manifest, wanted)
        return next((one for one in candidates if not self._why_not(one)), None)

    def _new_number(self) -> int:
        if self._attempts.number is None:
            self._attempts.number = self._registry.take_number()
        return self._attempts.number

    # How a preparation ended

    def _finish(self, preparation: Preparation) -> None:
        outcome = preparation.outcome
        is_wanted = preparation.task.settings == self._requests.wanted
        if isinstance(outcome, Prepared) and (is_wanted or self._is_switching):
            self._switch(outcome)
            if is_wanted:
                self._requests.settle(Verdict.APPLIED, "", outcome.generation.number)
        elif isinstance(outcome, EvergridError) and is_wanted:
            self._failed(outcome, preparation)
        else:
            if isinstance(outcome, Prepared):
                outcome.supervisor.stop()
                # Should it be wanted again before all is done.
                preparation.outcome = PreparationCancelled()
            self._discard(preparation)
        self._preparation = None
        self._retirement.look_for_orphans()

    def _switch(self, prepared: Prepared) -> None:
        """Steps 5 and 6. Once begun they are completed: the broker may have stored the record
        without having answered."""
        self._is_switching = True
        generation = generations.current(prepared.generation)
        self._registry.put(generation)
        self._registry.make_current(generation)
        self._say_live(generation)
        if self._current is not None:
            self._retirement.drain(self._current)
        self._current = prepared.supervisor
        self._is_switching = self._is_resuming = False
        self._reason = ""
        self._attempts.forget()

    def _discard(self, preparation: Preparation) -> None:
        """Remove a preparation that is not wanted any more; a generation that was kept stays."""
        self._say(f"Generation {preparation.task.number} is not wanted any more.")
        self._attempts.forget()
        if preparation.task.kept is not None:
            self._registry.put(preparation.task.kept)
        elif preparation.generation is not None:
            self._retirement.end(preparation.generation, State.GONE)

    def _failed(self, error: EvergridError, preparation: Preparation | None) -> None:
        """Report the failure; try again when it may be temporary, or when nothing else runs.

        `preparation` is None when it could not even begin.
        """
        text = error.sentence()
        number = preparation.task.number if preparation else self._new_number()
        kept = preparation.task.kept if preparation else None
        if preparation is not None and preparation.generation is not None:
            self._attempts.number = None
            if kept is not None and is_passing(error):
                self._registry.put(msgspec.structs.replace(kept, error=text))
            else:
                self._retirement.end(preparation.generation, State.FAILED, text)
        elif kept is None:
            cause = self._requests.cause
            self._registry.put(generations.refused(self._requests.wanted, number, text, cause))
        wait = self._attempts.failed()
        if self._requests.cause and (_is_final(error) or self._attempts.are_enough):
            runs = self._current.generation.number if self._current else 0
            on = f" Generation {runs} runs on." if runs else ""
            self._say(f"Generation {number} failed: {text}{on}")
            self._requests.settle(Verdict.FAILED, text, number)
            self._attempts.forget()
        elif self._must_end(error):
            raise error
        else:
            self._say(f"{text} Trying again in {wait:.0f} s.")

    def _must_end(self, error: EvergridError) -> bool:
        """Whether nothing can be shown until the configuration is corrected."""
        is_waited_for = self._settings.missing_topics is MissingTopics.WAIT
        if isinstance(error, TopicsMissing) and is_waited_for:
            return False
        return self._registry.manifest.current is None and isinstance(error, ConfigError)

    # Reports

    def _count(self) -> None:
        if self._current is None or time.monotonic() < self._count_at:
            return
        self._count_at = time.monotonic() + _COUNT_SECONDS
        generation = self._registry.manifest.generations[self._current.generation.number]
        self._registry.count(generation, generations.rows_made(self._own, generation))

    def _behind(self) -> TablesBehind:
        """Since when the current tables are out of date, and why."""
        current = self._current  # another thread may put another one there
        if current is not None:
            return current.behind
        return TablesBehind() if self._registry.manifest.current is None else self._without

    def _say_live(self, generation: Generation) -> None:
        self._say(f"Generation {generation.number} is live: {', '.join(generation.tables)}.")

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            self._say(trouble)
        self._trouble = trouble


def _another_is_made(instead_of: Generation, since: int) -> TablesBehind:
    return TablesBehind(
        since, f"Generation {instead_of.number} cannot go on, and another is being prepared."
    )


def _is_final(error: EvergridError) -> bool:
    """Whether another attempt would fail in the same way until somebody acts."""
    if isinstance(error, AccessError):
        return error.step is Step.RIGHT
    return isinstance(error, ConfigError)
