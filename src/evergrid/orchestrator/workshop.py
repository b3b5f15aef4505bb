"""The one Spark session of a pipeline, and how much fits on it."""

from __future__ import annotations

from collections.abc import Callable

from evergrid.broker.jars import Jars
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.generation import Generation
from evergrid.orchestrator.decide import slots_of, slots_to_open, too_large
from evergrid.orchestrator.generations import has_checkpoints
from evergrid.pipeline.session import Session, end_session, is_alive, is_local, open_session

_RESTART = (
    "Restart the pipeline, which then makes room for all topics that control.allow has, and send "
    "the message again."
)
_CONFIGURE = "Name these topics under sources in the configuration, and restart the pipeline."


class Workshop:
    """Opened when it is known how many slots the topics need."""

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
        self._slots = 0

    def session(self, wanted: Settings, running: Generation | None) -> Session:
        """The session; the first call opens it, with room for what is wanted beside what runs, and
        then some."""
        if self._spark is None:
            self._slots = slots_to_open(wanted, self._partitions(), running)
            self._say("Starting Spark.")
            self._spark = open_session(self._settings, self._jars, self._slots)
            self._say("Spark is up.")
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

    def has_checkpoints(self, generation: Generation) -> bool:
        """Whether each query's checkpoint is there."""
        return has_checkpoints(self._settings, generation)

    def check(self) -> None:
        """LinkError when Spark's process has ended by itself."""
        if self._spark is not None and not is_alive(self._spark):
            raise LinkError(
                "Spark's process ended by itself",
                remedy=f"See {self._settings.data_dir / 'log' / 'spark.log'}; "
                "started again, the pipeline goes on from its checkpoint.",
            )

    def close(self) -> None:
        if self._spark is not None:
            end_session(self._spark)

    def _partitions(self) -> dict[str, int]:
        return topics.partitions(self._settings.kafka.source)
