"""The one Spark session of a pipeline, and how much fits on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evergrid.broker.jars import Jars
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.generation import Generation
from evergrid.pipeline.class_archive_writer import ClassArchiveWriter
from evergrid.pipeline.plan import slots_needed
from evergrid.pipeline.session import (
    Session,
    class_archive,
    end_session,
    is_alive,
    is_local,
    open_session,
)

# Beside a generation that runs: for one that is being prepared, and for new partitions.
_SPARE_SLOTS = 8
_MOST_FORESEEN = 200  # slots of a generation that might be asked for
_RESTART = (
    "Restart the pipeline, which then makes room for all topics that control.allow has, and send "
    "the message again."
)
_UNPROTECTED = (
    "Warning: on a cluster Spark's real-time shuffle listens on all addresses of the executors, "
    "without authentication or encryption. Let only the cluster's machines reach them: "
    "docs/security.md, Spark."
)
_CONFIGURE = "Name these topics under sources in the configuration, and restart the pipeline."


class PipelineSession:
    """Opens Spark when it is known how many slots the topics need."""

    def __init__(
        self,
        settings: Settings,
        jars: Jars,
        say: Callable[[str], None],
        started: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._jars = jars
        self._say = say
        self._started = started
        self._spark: Session | None = None
        self._archive_writer: ClassArchiveWriter | None = None
        self._slots = 0

    def session(self, wanted: Settings, running: Generation | None) -> Session:
        """The session; the first call opens it, with room for what is wanted beside what runs, and
        then some."""
        if self._spark is None:
            self._slots = slots_to_open(wanted, self._partitions(), running)
            self._say("Starting Spark.")
            classes = class_archive(self._jars)
            self._spark = open_session(self._settings, self._jars, self._slots, classes)
            self._archive_writer = ClassArchiveWriter(classes, self._spark)
            self._say("Spark is up.")
            if not is_local(self._settings):
                self._say(_UNPROTECTED)
            self._started()
        return self._spark

    def check_room(self, wanted: Settings, beside: Generation | None) -> None:
        """ConfigError when what is wanted needs more slots than there are beside what runs."""
        if not is_local(self._settings):
            return  # a cluster says so itself
        partitions, shuffle = self._partitions(), self._settings.spark.shuffle_partitions
        taken = slots_of(beside, partitions, shuffle) if beside else 0
        needed = slots_of(wanted, partitions, shuffle)
        if reason := too_large(needed, taken, self._slots):
            helps = needed + taken <= slots_to_open(self._settings, partitions, beside)
            raise ConfigError(reason, remedy=_RESTART if helps else _CONFIGURE)

    def check(self) -> None:
        """LinkError when Spark's process has ended by itself."""
        if self._spark is not None and not is_alive(self._spark):
            raise LinkError(
                "Spark's process ended by itself",
                remedy=f"See {self._settings.data_dir / 'log' / 'spark.log'}; "
                "started again, the pipeline goes on from its checkpoint.",
            )
        if self._archive_writer is not None:
            self._archive_writer.turn()

    def close(self) -> None:
        if self._archive_writer is not None:
            self._archive_writer.close()
        if self._spark is not None:
            end_session(self._spark)

    def _partitions(self) -> dict[str, int]:
        return topics.partitions(self._settings.kafka.source)


def slots_of(wanted: Settings | Generation, partitions: Mapping[str, int], shuffle: int) -> int:
    """Slots that its sources and joins take; `partitions` by topic."""
    counts = {name: partitions.get(source.topic, 1) for name, source in wanted.sources.items()}
    return slots_needed(wanted.joins, counts, shuffle)


def slots_to_open(
    settings: Settings, partitions: Mapping[str, int], running: Generation | None = None
) -> int:
    """Slots for two generations at once, of the largest topics that may be asked for; `running`
    is one that goes on meanwhile."""
    largest = max((n for name, n in partitions.items() if settings.control.allows(name)), default=1)
    shuffle = settings.spark.shuffle_partitions
    foreseen = slots_needed(settings.joins, dict.fromkeys(settings.sources, largest), shuffle)
    now = slots_of(settings, partitions, shuffle)
    largest_of_one = max(now, min(foreseen, _MOST_FORESEEN))
    beside = slots_of(running, partitions, shuffle) if running else 0
    return largest_of_one + max(largest_of_one, beside) + _SPARE_SLOTS


def too_large(needed: int, taken: int, slots: int) -> str:
    """Why topics that take so many slots cannot be read beside what runs; empty if they can."""
    if needed <= slots - taken:
        return ""
    return (
        f"its topics and joins need {needed} of Spark's slots, and {slots - taken} are free "
        f"beside the {taken} of the generation that runs"
    )
