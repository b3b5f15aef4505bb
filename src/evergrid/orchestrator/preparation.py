"""One generation on its way to the screens, in a thread of its own, beside the one that runs.

The order in which things become true, so that a kill at any moment can be made good:

1. The generation's topics exist and the manifest has it as preparing.
2. Its tables hold all history (bootstrap).
3. Its real-time queries run, and have read what was there when they were started.
4. The manifest has it as ready, with the ends of its changelogs.

One that was replaced, and is kept, goes back the same way without its first two steps.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping

import msgspec

from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.topics import TopicInfo
from evergrid.model.errors import ConfigError, EvergridError, LinkError
from evergrid.model.generation import Generation, Progress
from evergrid.orchestrator import generations
from evergrid.orchestrator.decide import missing_topics
from evergrid.orchestrator.patience import Patience
from evergrid.orchestrator.readable import check_readable
from evergrid.orchestrator.registry import Registry
from evergrid.orchestrator.status import sentence
from evergrid.orchestrator.supervisor import Supervisor
from evergrid.pipeline.bootstrap import bootstrap, call_off
from evergrid.pipeline.catching_up import CatchingUp
from evergrid.pipeline.plan import Plan
from evergrid.pipeline.session import Session

_SAY_SECONDS = 2.0
_LOOK_SECONDS = 0.3
_STUCK_SECONDS = 180.0
_STAND_SECONDS = 10.0
_SURE = 2  # looks in a row that find nothing left to read

Say = Callable[[str], None]


class Prepared(msgspec.Struct, frozen=True):
    """A generation that is ready, with its queries running."""

    generation: Generation
    supervisor: Supervisor


class CalledOff(Exception):
    """Something else is wanted now."""


class Unfit(LinkError):
    """Its queries do not run as they should, or nobody knows why: it is not gone back to."""


class TopicsMissing(ConfigError):
    """Source topics that do not exist, and may be made any time."""


class Task(msgspec.Struct, frozen=True):
    """What to prepare: a new generation of `settings`, or `kept`, which was one before.

    `before` is the generation that runs meanwhile.
    """

    settings: Settings
    cause: str
    number: int
    kept: Generation | None
    before: Generation | None


Outcome = Prepared | CalledOff | EvergridError


class Preparation:
    """Begins at once; `outcome` says when it is over, and how."""

    def __init__(self, task: Task, spark: Session, registry: Registry, say: Say) -> None:
        self.task = task
        self.outcome: Outcome | None = None
        self.generation: Generation | None = None
        self._spark = spark
        self._registry = registry
        self._say = say
        self._off = threading.Event()
        self._told: Progress | None = None
        self._told_at = 0.0
        # History that was read for long is not thrown away for a broker that is restarted.
        self._patience = Patience(self._check, say)
        self._thread = threading.Thread(target=self._run, name="preparation", daemon=True)
        self._thread.start()

    def call_off(self) -> None:
        """Have it end soon; its outcome is then CalledOff."""
        if not self._off.is_set() and self.outcome is None:
            self._off.set()
            if self.generation is not None:
                with contextlib.suppress(LinkError):
                    call_off(self._plan(self.generation))

    def _run(self) -> None:
        try:
            outcome: Outcome = self._prepared()
        except CalledOff as off:
            outcome = off
        except EvergridError as error:
            outcome = CalledOff() if self._off.is_set() else error
        except Exception as error:  # whatever a library raises must not leave the page waiting
            outcome = Unfit(f"the preparation failed unexpectedly ({error!r})")
        self.outcome = outcome

    def _prepared(self) -> Prepared:
        kept = self.task.kept
        if kept is None:
            return self._go_live(self._with_history())
        find_topics(self.task.settings)
        self._say(f"Going back to generation {kept.number}.")
        generation = generations.begin_again(kept, self.task.cause)
        self._put(generation)
        return self._go_live(generation)

    def _with_history(self) -> Generation:
        """Steps 1 and 2."""
        settings, number = self.task.settings, self.task.number
        found = find_topics(settings)
        generation = generations.begin(settings, number, found, self.task.cause)
        self._put(generation)
        plan = self._plan(generation)
        bootstrap(plan, self._tell)
        self._check()
        self._patience.ask(lambda: check_readable(plan, self.task.before))
        return generation

    def _go_live(self, generation: Generation) -> Prepared:
        """Steps 3 and 4."""
        plan = self._plan(generation)
        supervisor = Supervisor(plan, self._say, fresh_at=generations.now())
        try:
            self._patience.ask(supervisor.start)
            if supervisor.reading is not None:
                reading = supervisor.reading
                self._catch_up(supervisor, self._patience.ask(lambda: CatchingUp(reading)))
            else:
                self._see_them_stand(supervisor)
            ready = self._patience.ask(lambda: generations.ready(self.task.settings, generation))
            self._patience.ask(lambda: self._put(ready))
        except BaseException:
            with contextlib.suppress(LinkError):
                supervisor.stop()
            raise
        return Prepared(ready, supervisor)

    def _catch_up(self, supervisor: Supervisor, catching_up: CatchingUp) -> None:
        """Wait until the queries have read what was there; never for ever."""
        sure, least, moved_at = 0, 0, time.monotonic()
        while sure < _SURE:
            self._check()
            if lost := supervisor.look():
                raise Unfit(lost)
            before = self._patience.waited
            left = self._patience.ask(catching_up.left)
            moved_at += self._patience.waited - before  # which was Kafka's time, not the queries'
            done = catching_up.total - left
            if catching_up.total:
                self._tell(Progress("reading what came meanwhile", done, catching_up.total))
            sure = 0 if left else sure + 1
            if not left or done > least:
                least, moved_at = done, time.monotonic()
            if time.monotonic() - moved_at > _STUCK_SECONDS:
                raise Unfit(
                    f"its queries have read nothing for {_STUCK_SECONDS:.0f} seconds",
                    remedy="The log directory's spark.log may say why.",
                )
            time.sleep(_LOOK_SECONDS)

    def _see_them_stand(self, supervisor: Supervisor) -> None:
        """On a cluster nobody knows what they have read; but they fall soon if they cannot run."""
        until = time.monotonic() + _STAND_SECONDS
        while time.monotonic() < until:
            self._check()
            if lost := supervisor.look():
                raise Unfit(lost)
            if fallen := supervisor.fallen:
                raise LinkError(
                    f"query {', '.join(fallen)} fell over as soon as it was started",
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
            self._say(f"  {sentence(progress)}")
            if self.generation is not None:
                with contextlib.suppress(LinkError):  # the next one will tell as much
                    self._registry.put(msgspec.structs.replace(self.generation, progress=progress))

    def _put(self, generation: Generation) -> None:
        self.generation = generation
        self._check()
        self._registry.put(generation)

    def _check(self) -> None:
        if self._off.is_set():
            raise CalledOff

    def _plan(self, generation: Generation) -> Plan:
        return Plan(self._spark, self.task.settings, generation)


def is_passing(error: EvergridError) -> bool:
    """Whether it was Kafka that kept a generation from the screens, and not what it is: a topic
    that is gone does not come back as the same one."""
    return isinstance(error, LinkError) and not isinstance(error, (Unfit, topics.Missing))


def find_topics(settings: Settings) -> Mapping[str, TopicInfo]:
    """The source topics as they are; TopicsMissing when they are not all there."""
    names = [source.topic for source in settings.sources.values()]
    found = topics.describe(settings.kafka.source, names)
    if missing := missing_topics(settings.sources, found):
        one = len(missing) == 1
        raise TopicsMissing(
            f"{'topic' if one else 'topics'} {', '.join(missing)} {'does' if one else 'do'} "
            "not exist",
            where=f"Kafka at {settings.kafka.source.bootstrap}",
            remedy="Create what is missing, or correct its name.",
        )
    return found
