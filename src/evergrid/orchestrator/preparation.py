"""Prepares one generation, in a thread of its own, beside the one that runs.

The order of the steps, so that the next start can repair what a kill at any moment left:

1. The generation's topics exist and the manifest has it as preparing. One that a control message
   asks for is refused when its inner joins would make too many rows.
2. Its tables hold all history: its queries have caught up with it in micro-batches.
3. Its queries run in real-time mode, and have written what was there when they began to.
4. The manifest has it as ready, with the ends of its changelogs.

A generation that was replaced and kept comes back by steps 3 and 4.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

import msgspec

from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.model.errors import EvergridError, LinkError
from evergrid.model.generation import Generation, Progress
from evergrid.orchestrator import generations
from evergrid.orchestrator.kafka_retry import KafkaRetry
from evergrid.orchestrator.query_pool import QueryPool
from evergrid.orchestrator.registry import Registry, progress_text
from evergrid.orchestrator.source_topics import check_pairs, check_readable, find_topics
from evergrid.orchestrator.supervisor import Supervisor
from evergrid.pipeline.plan import Plan
from evergrid.pipeline.query_positions import Places
from evergrid.pipeline.session import Session, is_local
from evergrid.process.backoff import Backoff

_SAY_SECONDS = 2.0
_LOOK_SECONDS = 0.3
_STUCK_SECONDS = 180.0
_STAND_SECONDS = 10.0
_SURE = 2  # looks in a row that find nothing left to read
_FIRST_WAIT_SECONDS = 2.0
_LONGEST_WAIT_SECONDS = 30.0
_MOST_ATTEMPTS = 5

Say = Callable[[str], None]


class Prepared(msgspec.Struct, frozen=True):
    """A generation that is ready, with its queries running."""

    generation: Generation
    supervisor: Supervisor


class PreparationCancelled(Exception):
    """The preparation was cancelled: something else is wanted now."""


class UnusableGeneration(LinkError):
    """Its queries fail, or for an unknown reason: a kept generation is then not used again."""


class Task(msgspec.Struct, frozen=True):
    """What to prepare: a new generation of `settings`, or `kept`, which was one before.

    `before` is the generation that runs meanwhile.
    """

    settings: Settings
    cause: str
    number: int
    kept: Generation | None
    before: Generation | None


Outcome = Prepared | PreparationCancelled | EvergridError


class Preparation:
    """Begins at once; `outcome` says when it is over, and how."""

    def __init__(
        self, task: Task, spark: Session, pool: QueryPool, registry: Registry, say: Say
    ) -> None:
        self.task = task
        self.outcome: Outcome | None = None
        self.generation: Generation | None = None
        self._spark = spark
        self._pool = pool
        self._registry = registry
        self._say = say
        self._off = threading.Event()
        self._told: Progress | None = None
        self._told_at = 0.0
        # History that was read for long is not thrown away for a broker that is restarted.
        self._kafka = KafkaRetry(self._check, say)
        self._thread = threading.Thread(target=self._run, name="preparation", daemon=True)
        self._thread.start()

    def call_off(self) -> None:
        """Have it end soon; its outcome is then PreparationCancelled."""
        self._off.set()

    def _run(self) -> None:
        try:
            outcome: Outcome = self._prepared()
        except PreparationCancelled as off:
            outcome = off
        except EvergridError as error:
            outcome = PreparationCancelled() if self._off.is_set() else error
        except Exception as error:  # any failure must be reported, or the page waits for ever
            outcome = UnusableGeneration(f"the preparation failed unexpectedly ({error!r})")
        self.outcome = outcome

    def _prepared(self) -> Prepared:
        kept = self.task.kept
        if kept is None:
            generation = self._begun()
            if self.task.cause:
                self._kafka.ask(lambda: check_pairs(self._plan(generation)))
            return self._go_live(generation)
        find_topics(self.task.settings)
        self._say(f"Going back to generation {kept.number}.")
        generation = generations.begin_again(kept, self.task.cause)
        self._put(generation)
        return self._go_live(generation)

    def _begun(self) -> Generation:
        """Step 1."""
        settings, number = self.task.settings, self.task.number
        found = find_topics(settings)
        with self._registry.sharing:
            self._registry.prove_ownership()
            others = self._registry.manifest.generations.values()
            generation = generations.begin(settings, number, found, self.task.cause, others)
            self._put(generation)
        # One that it shares a table with may be half removed: the broker went away meanwhile.
        names = [table.topic for table in generation.tables.values()]
        if len(topics.describe(settings.kafka.internal, names)) < len(names):
            raise LinkError("a table that was to be shared has just been removed")
        return generation

    def _go_live(self, generation: Generation) -> Prepared:
        """Steps 2 to 4."""
        plan = self._plan(generation)
        supervisor = Supervisor(plan, self._pool, self._say, fresh_at=generations.now())
        try:
            self._kafka.ask(supervisor.start)
            self._catch_up(supervisor)
            if self.task.kept is None:
                self._kafka.ask(lambda: check_readable(plan, self.task.before))
            self._write_what_came_meanwhile(supervisor)
            if not is_local(self.task.settings):
                self._see_them_stand(supervisor)
            ready = self._kafka.ask(lambda: generations.ready(self.task.settings, generation))
            self._kafka.ask(lambda: self._put(ready))
        except BaseException:
            with contextlib.suppress(LinkError):
                supervisor.stop()
            raise
        return Prepared(ready, supervisor)

    def _catch_up(self, supervisor: Supervisor) -> None:
        """Step 2: wait until micro-batches have read and written all that was there."""
        ends = self._kafka.ask(supervisor.observe)
        total = supervisor.unread(ends)

        def left() -> int:
            supervisor.observe()
            unread = supervisor.unread(ends)
            if total:
                done = total - min(total, unread)
                step = "catching up with the past" if unread else "writing what was read"
                self._tell(Progress(step, done, total))
            return 0 if supervisor.is_live else max(1, unread)

        self._await(supervisor, left, sure=1)

    def _write_what_came_meanwhile(self, supervisor: Supervisor) -> None:
        """Step 3: wait until the output has everything that was there in the beginning of it."""
        ends: Places = self._kafka.ask(supervisor.observe)
        total = supervisor.left(ends)

        def left() -> int:
            supervisor.observe()
            unwritten = supervisor.left(ends)
            if total:
                done = total - min(total, unwritten)
                self._tell(Progress("writing what came meanwhile", done, total))
            return unwritten

        self._await(supervisor, left, sure=_SURE)

    def _await(self, supervisor: Supervisor, left: Callable[[], int], sure: int) -> None:
        """Wait until nothing is left, at so many looks in a row; never for ever."""
        found, least, moved_at = 0, -1, time.monotonic()
        while found < sure:
            self._check()
            if lost := self._kafka.ask(supervisor.look):
                raise UnusableGeneration(lost)
            before = self._kafka.waited
            count = self._kafka.ask(left)
            moved_at += self._kafka.waited - before  # which was Kafka's time, not the queries'
            found = 0 if count else found + 1
            if least < 0 or count < least:
                least, moved_at = count, time.monotonic()
            if time.monotonic() - moved_at > _STUCK_SECONDS and not supervisor.is_catching_up:
                raise UnusableGeneration(
                    f"its queries have written nothing for {_STUCK_SECONDS:.0f} seconds",
                    remedy="The log directory's spark.log may say why.",
                )
            if found < sure:
                time.sleep(_LOOK_SECONDS)

    def _see_them_stand(self, supervisor: Supervisor) -> None:
        """On a cluster it is not known what raw tables' queries have read; but they fail soon if
        they cannot run."""
        until = time.monotonic() + _STAND_SECONDS
        while time.monotonic() < until:
            self._check()
            if lost := self._kafka.ask(supervisor.look):
                raise UnusableGeneration(lost)
            if failed := supervisor.failed:
                raise LinkError(
                    f"query {', '.join(failed)} failed as soon as it was started",
                    remedy="The log says why; the cluster may have too few free slots.",
                )
            time.sleep(_LOOK_SECONDS)

    def _tell(self, progress: Progress) -> None:
        """Say a step's progress when it begins, ends, and now and then in between."""
        self._check()
        new_step = self._told is None or self._told.step != progress.step
        over = progress.done == progress.total and progress != self._told
        if not (new_step or over or time.monotonic() - self._told_at >= _SAY_SECONDS):
            return
        if progress != self._told:
            self._told, self._told_at = progress, time.monotonic()
            self._say(f"  {progress_text(progress)}")
            if self.generation is not None:
                with contextlib.suppress(LinkError):  # the next one will tell as much
                    self._registry.put(msgspec.structs.replace(self.generation, progress=progress))

    def _put(self, generation: Generation) -> None:
        self.generation = generation
        self._check()
        self._registry.put(generation)

    def _check(self) -> None:
        if self._off.is_set():
            raise PreparationCancelled

    def _plan(self, generation: Generation) -> Plan:
        return Plan(self._spark, self.task.settings, generation)


def is_passing(error: EvergridError) -> bool:
    """Whether Kafka failed, and not the generation. A topic that was deleted does not count: one
    that is created again is another topic."""
    return isinstance(error, LinkError) and not isinstance(
        error, (UnusableGeneration, topics.MissingTopic)
    )


class Attempts:
    """When to prepare again what failed, and when to give up; other settings start the count anew.

    `number` is that of a generation that could not begin: the next attempt uses it again.
    """

    def __init__(self) -> None:
        self._of: Settings | None = None
        self._backoff = Backoff(_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
        self.forget()

    def forget(self) -> None:
        """Start anew: it succeeded, or was given up."""
        self.number: int | None = None
        self._backoff.reset()

    def are_due(self, wanted: Settings) -> bool:
        """Whether to prepare now."""
        if wanted != self._of:
            self._of = wanted
            self.forget()
        return self._backoff.is_due()

    def failed(self) -> float:
        """Count a failure; returns the seconds until the next attempt."""
        return self._backoff.failed()

    @property
    def are_enough(self) -> bool:
        """Whether to give up what a control message asks for."""
        return self._backoff.failures >= _MOST_ATTEMPTS
