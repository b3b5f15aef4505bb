"""Keeps what is wanted on the screens: one generation runs, another is made beside it.

Control messages and the configuration say what is wanted. As long as what runs is not that, a
generation is prepared; when it is ready, one record of the manifest is the switch:

1.–4. The generation is prepared (`preparation`).
5. The manifest names it as current.
6. The one before is retiring: its queries run on for a short drain, its topics and checkpoints
   stay for the grace time, so that going back is quick. Then it is gone (`retirement`).

Every turn looks at what is, and does what is missing. While the broker of our own topics is
away it only waits, and a kill at any moment is made good by the next start.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NoReturn

import msgspec

from evergrid.changelog.join_reports import ReportReader
from evergrid.changelog.manifest import Behind
from evergrid.changelog.reader import load_manifest
from evergrid.changelog.writer import ManifestWriter, RecordWriter, TableWriter
from evergrid.config.settings import MissingTopics, Settings
from evergrid.kafka import topics
from evergrid.kafka.diagnosis import ShutOut, Step
from evergrid.kafka.jars import Jars
from evergrid.kafka.topics import TopicWatch
from evergrid.model.control import Verdict
from evergrid.model.errors import ConfigError, DataError, EvergridError, LinkError
from evergrid.model.generation import Generation, State
from evergrid.orchestrator import decide, generations
from evergrid.orchestrator.attempts import Attempts
from evergrid.orchestrator.desk import Desk
from evergrid.orchestrator.gaps import GapRecorder
from evergrid.orchestrator.heart import Heart
from evergrid.orchestrator.missing import await_topics
from evergrid.orchestrator.preparation import (
    CalledOff,
    Preparation,
    Prepared,
    Task,
    TopicsMissing,
    is_passing,
)
from evergrid.orchestrator.queries import QueryPool
from evergrid.orchestrator.registry import Registry
from evergrid.orchestrator.retirement import Retirement
from evergrid.orchestrator.supervisor import Supervisor
from evergrid.orchestrator.ticker import Ticker
from evergrid.orchestrator.workshop import Workshop
from evergrid.pipeline.plan import Plan

Say = Callable[[str], None]

_TURN_SECONDS = 0.2
_COUNT_SECONDS = 5.0
_LOOK_SECONDS = 1.0
_ASKED_SECONDS = 60.0  # for the control topic, after the start


class Conductor:
    """One pipeline process: a Spark session and the generations on it."""

    def __init__(
        self, settings: Settings, jars: Jars, say: Say, spark_started: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._say = say
        self._workshop = Workshop(settings, jars, say, spark_started)
        connection, prefix = settings.kafka.internal, settings.internal_topics.prefix
        self._own = TopicWatch(connection)
        system = generations.make_system_topics(settings)
        records = RecordWriter(connection)
        writer = ManifestWriter(records, prefix)
        writer.system(system)
        # A writer of its own: when the broker is away, both wait, and neither for the other.
        self._heart = Heart(ManifestWriter(RecordWriter(connection), prefix), self._behind)
        tables = settings.system_tables
        self._registry = Registry(
            settings,
            load_manifest(connection, prefix),
            writer,
            TableWriter(records, system[tables.orchestrator_status]),
        )
        self._ticker = Ticker(connection, prefix)
        self._reports = ReportReader(connection, prefix)
        self._pool = QueryPool(settings, self._reports, say)
        self._gaps = GapRecorder(self._registry, self._reports, say)
        self._retirement = Retirement(settings, self._registry, say)
        verdicts = TableWriter(records, system[tables.control_raw])
        self._desk = Desk(settings, self._registry, verdicts, say)
        self._docket = self._desk.docket
        self._current: Supervisor | None = None
        self._preparation: Preparation | None = None
        self._attempts = Attempts()
        self._is_switching = False
        self._is_resuming = False  # the current generation, after a start
        self._reason = self._lost = self._trouble = ""
        pulse = self._registry.manifest.pulse or generations.now()
        self._without = Behind(pulse, "The pipeline is starting.")  # as long as nothing runs
        self._count_at = 0.0
        self._began = time.monotonic()

    def run(self) -> NoReturn:
        """Run until stopped from outside (by an exception in this thread)."""
        self._heart.start()
        self._ticker.start()
        self._reports.start()
        self._begin()
        while True:
            self._workshop.check()
            try:
                self._turn()
                self._note("")
            except LinkError as error:
                self._note(f"{error.sentence()} Going on when that is over.")
                time.sleep(_LOOK_SECONDS)
            time.sleep(_TURN_SECONDS)

    def close(self) -> None:
        self._heart.stop()
        self._ticker.stop()
        self._reports.stop()
        self._workshop.close()

    # The start

    def _begin(self) -> None:
        """Go on with what is on the screens, if that can be; the turns see to the rest."""
        self._desk.open()
        self._retirement.after_a_kill()
        await_topics(self._settings, self._docket, self._desk.turn, self._say)
        current = self._registry.manifest.current_generation
        if current is None:
            return
        self._reason = self._why_not(current)
        if self._reason:
            self._without = _another_is_made(current, self._without.since)
        else:
            self._say(f"Going on with generation {current.number} from its checkpoint.")
            spark = self._workshop.session(self._docket.wanted, current)
            plan = Plan(spark, self._settings, current)
            self._current = Supervisor(plan, self._pool, self._say, fresh_at=self._without.since)
            try:
                self._current.start()
            except DataError as error:
                self._lost = str(error)
                return
            self._is_resuming = True
            if not decide.is_of(current, self._docket.wanted) and not self._docket.cause:
                self._reason = "the configuration has other sources, joins or retention"

    def _why_not(self, generation: Generation) -> str:
        """Why a generation cannot go on from its checkpoint; empty when it can."""
        names = [source.topic for source in generation.sources.values()]
        found = topics.describe(self._settings.kafka.source, names)
        return decide.why_not(generation, found, self._workshop.has_checkpoints(generation))

    # One turn

    def _turn(self) -> None:
        self._desk.hear()
        self._look_after()
        self._steer()
        self._desk.answer()
        busy = self._preparation.task.number if self._preparation else None
        self._retirement.turn(busy)
        self._gaps.turn()
        self._count()

    def _look_after(self) -> None:
        """Keep the current generation running; say so when that has become impossible."""
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

    def _steer(self) -> None:
        """Prepare what is wanted, unless it runs or is being prepared."""
        wanted = self._docket.wanted
        if self._preparation is not None:
            if self._preparation.task.settings != wanted:
                self._preparation.call_off()
            if self._preparation.outcome is not None:
                self._conclude(self._preparation)
        elif self._current is not None and decide.is_of(self._current.generation, wanted):
            self._settle_what_runs(self._current.generation.number)
        elif self._attempts.are_due(wanted) and not self._may_have_been_asked_for():
            self._prepare(wanted)

    def _may_have_been_asked_for(self) -> bool:
        """Whether what runs was asked for by a message that is still to be read: a kill came
        between the switch and the word that it was done."""
        is_long_ago = time.monotonic() - self._began > _ASKED_SECONDS
        if self._current is None or self._desk.has_read or is_long_ago:
            return False
        cause = self._registry.manifest.generations[self._current.generation.number].cause
        return bool(cause) and not self._docket.has_settled(cause)

    def _settle_what_runs(self, number: int) -> None:
        if not self._docket.cause:
            return
        current = self._registry.manifest.generations[number]
        if current.cause == self._docket.cause:  # applied, and then the pipeline was killed
            self._docket.settle(Verdict.APPLIED, "", number)
        else:
            reason = f"Generation {number}, which runs, is just that."
            self._docket.settle(Verdict.IGNORED, reason, number)

    def _prepare(self, wanted: Settings) -> None:
        current = self._current.generation if self._current else None
        try:
            kept = self._kept_for(wanted)
            spark = self._workshop.session(wanted, current)
            self._workshop.check_room(wanted, current)
        except (ConfigError, LinkError) as error:
            self._failed(error, None)
            return
        self._retirement.make_room(kept.number if kept else None)
        number = kept.number if kept else self._new_number()
        why = f" because {self._reason}" if self._reason else ""
        why = f", asked for by control message {self._docket.cause}" if self._docket.cause else why
        self._say(f"Preparing generation {number}{why}.")
        self._docket.preparing(number)
        task = Task(wanted, self._docket.cause, number, kept, current)
        self._preparation = Preparation(task, spark, self._pool, self._registry, self._say)

    def _kept_for(self, wanted: Settings) -> Generation | None:
        candidates = decide.kept_for(self._registry.manifest, wanted)
        return next((one for one in candidates if not self._why_not(one)), None)

    def _new_number(self) -> int:
        if self._attempts.number is None:
            self._attempts.number = self._registry.take_number()
        return self._attempts.number

    # How a preparation ended

    def _conclude(self, preparation: Preparation) -> None:
        outcome = preparation.outcome
        is_wanted = preparation.task.settings == self._docket.wanted
        if isinstance(outcome, Prepared) and (is_wanted or self._is_switching):
            self._switch(outcome)
            if is_wanted:
                self._docket.settle(Verdict.APPLIED, "", outcome.generation.number)
        elif isinstance(outcome, EvergridError) and is_wanted:
            self._failed(outcome, preparation)
        else:
            if isinstance(outcome, Prepared):
                outcome.supervisor.stop()
                preparation.outcome = CalledOff()  # should it be wanted again before all is done
            self._dispose(preparation)
        self._preparation = None
        self._retirement.look_for_orphans()

    def _switch(self, prepared: Prepared) -> None:
        """Steps 5 and 6. Once begun it is carried through: a broker that did not answer may have
        the record all the same."""
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

    def _dispose(self, preparation: Preparation) -> None:
        """It is not wanted any more; what was kept before is kept on."""
        self._say(f"Generation {preparation.task.number} is not wanted any more.")
        self._attempts.forget()
        if preparation.task.kept is not None:
            self._registry.put(preparation.task.kept)
        elif preparation.generation is not None:
            self._retirement.discard(preparation.generation)

    def _failed(self, error: EvergridError, preparation: Preparation | None) -> None:
        """Say it where it will be read; try again when it may pass, or when nothing else runs.

        Without a `preparation` there was none to begin.
        """
        text = error.sentence()
        number = preparation.task.number if preparation else self._new_number()
        kept = preparation.task.kept if preparation else None
        if preparation is not None and preparation.generation is not None:
            self._attempts.number = None
            if kept is not None and is_passing(error):
                self._registry.put(msgspec.structs.replace(kept, error=text))
            else:
                self._retirement.fail(preparation.generation, text)
        elif kept is None:
            cause = self._docket.cause
            self._registry.put(generations.refused(self._docket.wanted, number, text, cause))
        wait = self._attempts.failed()
        if self._docket.cause and (_is_final(error) or self._attempts.are_enough):
            runs = self._current.generation.number if self._current else 0
            on = f" Generation {runs} runs on." if runs else ""
            self._say(f"Generation {number} failed: {text}{on}")
            self._docket.settle(Verdict.FAILED, text, number)
            self._attempts.forget()
        elif self._must_end(error):
            raise error
        else:
            self._say(f"{text} Trying again in {wait:.0f} s.")

    def _must_end(self, error: EvergridError) -> bool:
        """Whether nothing can be shown before somebody has corrected the configuration."""
        is_waited_for = self._settings.missing_topics is MissingTopics.WAIT
        if isinstance(error, TopicsMissing) and is_waited_for:
            return False
        return self._registry.manifest.current is None and isinstance(error, ConfigError)

    # What is told

    def _count(self) -> None:
        if self._current is None or time.monotonic() < self._count_at:
            return
        self._count_at = time.monotonic() + _COUNT_SECONDS
        generation = self._registry.manifest.generations[self._current.generation.number]
        self._registry.count(generation, generations.rows_made(self._own, generation))

    def _behind(self) -> Behind:
        """How old what is on the screens is."""
        current = self._current  # another thread may put another one there
        if current is not None:
            return current.behind
        return Behind() if self._registry.manifest.current is None else self._without

    def _say_live(self, generation: Generation) -> None:
        self._say(f"Generation {generation.number} is live: {', '.join(generation.tables)}.")

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            self._say(trouble)
        self._trouble = trouble


def _another_is_made(instead_of: Generation, since: int) -> Behind:
    return Behind(
        since, f"Generation {instead_of.number} cannot go on, and another is being prepared."
    )


def _is_final(error: EvergridError) -> bool:
    """Whether trying again would only give the same answer: somebody must do something first."""
    if isinstance(error, ShutOut):
        return error.step is Step.RIGHT
    return isinstance(error, ConfigError)
