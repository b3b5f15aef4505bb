"""Keeps one generation running, and puts another in its place when it cannot go on.

The order in which things become true, so that a kill at any moment can be made good:

1. The generation's topics exist and the manifest has it as preparing.
2. Its tables hold all history (bootstrap).
3. The manifest has it as ready, with the ends of its changelogs.
4. Its real-time queries run.
5. The manifest names it as current. This one record is the switch.
6. What generations before it left is removed.

A start that finds a generation short of step 5 makes it anew; after step 5 it goes on from
the checkpoint.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from typing import NoReturn

from evergrid.changelog.manifest import Manifest
from evergrid.changelog.reader import load_manifest
from evergrid.changelog.writer import ManifestWriter
from evergrid.config.settings import MissingTopics, Settings
from evergrid.kafka import topics
from evergrid.kafka.jars import Jars
from evergrid.kafka.topics import TopicInfo
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.generation import Generation, State
from evergrid.orchestrator import generations
from evergrid.orchestrator.decide import Begin, decide, missing_topics
from evergrid.orchestrator.heart import Heart
from evergrid.orchestrator.progress import ProgressTeller
from evergrid.orchestrator.supervisor import Supervisor
from evergrid.pipeline.bootstrap import bootstrap
from evergrid.pipeline.plan import Plan, generation_folder, slots_needed
from evergrid.pipeline.session import Session, end_session, open_session

Say = Callable[[str], None]

_LOOK_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 30.0


class Conductor:
    """One pipeline process: a Spark session and the generations on it."""

    def __init__(
        self, settings: Settings, jars: Jars, say: Say, spark_started: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._jars = jars
        self._say = say
        self._spark_started = spark_started
        self._writer: ManifestWriter | None = None
        self._spark: Session | None = None
        self._heart: Heart | None = None

    def run(self) -> NoReturn:
        """Run until stopped from outside (by an exception in this thread)."""
        settings = self._settings
        system = generations.make_system_topics(settings)
        self._writer = ManifestWriter(settings.kafka.internal, settings.internal_topics.prefix)
        self._writer.system(system)
        # A writer of its own: when the broker is away, both wait, and neither for the other.
        self._heart = Heart(
            ManifestWriter(settings.kafka.internal, settings.internal_topics.prefix)
        )
        self._heart.start()
        found = self._source_topics()
        manifest = load_manifest(settings.kafka.internal, settings.internal_topics.prefix)
        generation, reason = self._resume_or_begin(manifest, found)
        ran = False
        while True:
            if generation is None:
                generation = self._prepare_again(reason) if ran else self._prepare(reason)
            ran = True
            reason = self._keep_running(generation)
            self._say(f"Generation {generation.number} cannot go on: {reason}. Starting another.")
            self._writer.generation(generations.ended(generation, State.FAILED, reason))
            generation = None

    def close(self) -> None:
        if self._heart is not None:
            self._heart.stop()
        if self._spark is not None:
            end_session(self._spark)

    def _resume_or_begin(
        self, manifest: Manifest, found: Mapping[str, TopicInfo]
    ) -> tuple[Generation | None, str]:
        decision = decide(self._settings, manifest, found, self._has_checkpoints(manifest))
        if isinstance(decision, Begin):
            return None, decision.reason
        self._say(f"Going on with generation {decision.generation.number} from its checkpoint.")
        return decision.generation, ""

    def _has_checkpoints(self, manifest: Manifest) -> bool:
        """Whether each join's checkpoint is there. Ingest has no state to lose."""
        current = manifest.current_generation
        if current is None:
            return False
        folder = generation_folder(self._settings, current.number)
        return all((folder / f"join-{name}" / "metadata").exists() for name in current.joins)

    def _prepare_again(self, reason: str) -> Generation:
        """A generation after one that ran: what keeps it from preparing is waited out."""
        wait = _LOOK_SECONDS
        while True:
            try:
                return self._prepare(reason)
            except LinkError as error:
                wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
                self._say(f"{error.sentence()} Trying again in {wait:.0f} s.")
                time.sleep(wait)

    def _prepare(self, reason: str) -> Generation:
        """Steps 1 to 3 for the next generation."""
        settings, writer = self._settings, self._manifest_writer()
        found = self._source_topics()
        manifest = load_manifest(settings.kafka.internal, settings.internal_topics.prefix)
        number = max(manifest.generations, default=0) + 1
        why = f" because {reason}" if reason else ""
        self._say(f"Preparing generation {number}{why}.")
        generation = generations.begin(settings, number, found)
        writer.generation(generation)
        teller = ProgressTeller(generation, writer, self._say)
        bootstrap(Plan(self._session(generation), settings, generation), teller.tell)
        generation = generations.ready(settings, generation)
        writer.generation(generation)
        return generation

    def _keep_running(self, generation: Generation) -> str:
        """Steps 4 to 6; returns why the generation cannot go on."""
        plan = Plan(self._session(generation), self._settings, generation)
        supervisor = Supervisor(plan, self._say)
        supervisor.start()
        self._make_current(generation)
        return supervisor.watch()

    def _make_current(self, generation: Generation) -> None:
        settings, writer = self._settings, self._manifest_writer()
        writer.generation(generations.current(generation))
        writer.current(generation.number)
        tables = ", ".join(generation.tables)
        self._say(f"Generation {generation.number} is live: {tables}.")
        manifest = load_manifest(settings.kafka.internal, settings.internal_topics.prefix)
        for number, other in manifest.generations.items():
            if number < generation.number:
                self._remove(other)

    def _remove(self, generation: Generation) -> None:
        """Take away what a generation before the current one left."""
        settings = self._settings
        topics.delete(
            settings.kafka.internal, [table.topic for table in generation.tables.values()]
        )
        shutil.rmtree(generation_folder(settings, generation.number), ignore_errors=True)
        self._manifest_writer().forget(generation.number)

    def _session(self, generation: Generation) -> Session:
        """The one session, opened when it is known how many slots the topics need."""
        if self._spark is None:
            needed = slots_needed(generation, self._settings.spark.shuffle_partitions)
            self._say("Starting Spark.")
            # Room for a second generation beside the first, and for partitions to come.
            self._spark = open_session(self._settings, self._jars, 2 * needed + 8)
            self._spark_started()
        return self._spark

    def _source_topics(self) -> dict[str, TopicInfo]:
        """The source topics as they are; waits for missing ones if the settings say so."""
        settings = self._settings
        names = [source.topic for source in settings.sources.values()]
        said: list[str] = []
        while True:
            found = topics.describe(settings.kafka.source, names)
            missing = missing_topics(settings.sources, found)
            if not missing:
                return found
            if settings.missing_topics is MissingTopics.FAIL:
                raise _no_such_topic(settings, missing)
            if missing != said:
                self._say(f"Waiting for {_topics(missing)} to be created.")
                said = missing
            time.sleep(_LOOK_SECONDS)

    def _manifest_writer(self) -> ManifestWriter:
        assert self._writer is not None
        return self._writer


def _topics(names: list[str]) -> str:
    return ("topic " if len(names) == 1 else "topics ") + ", ".join(names)


def _no_such_topic(settings: Settings, missing: list[str]) -> ConfigError:
    verb = "does" if len(missing) == 1 else "do"
    return ConfigError(
        f"{_topics(missing)} {verb} not exist",
        where=f"Kafka at {settings.kafka.source.bootstrap}",
        remedy="Create what is missing, correct sources.*.topic, or set missing_topics: wait.",
    )
