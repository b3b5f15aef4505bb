"""The stage of one case: a broker, topics with a past, and a pipeline, gone when it is over."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import yaml

from bench.helper import Helper
from bench.load import Backlog, Loaded, Past
from bench.screen import say
from bench.usage import java_below
from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.internal_topics import table_topic
from evergrid.demo.sample_events import ACCOUNTS, USERS
from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import LinkError
from evergrid.model.join import JoinType
from evergrid.model.source import TopicEnd
from evergrid.testing.evergrid_process import EvergridProcess

PREFIX = "evergrid"
TABLE = "final_ui"
GENERATION = 1
_PARTITIONS = 2
_DAY_MS = 86_400_000
_FILL_SECONDS = 300.0
_START_SECONDS = 300.0
_LOOK_SECONDS = 0.25
_TUNED = "-XX:+UseG1GC -XX:MaxGCPauseMillis=20"  # a broker that has much to do
_WARM_CHANGES, _WARM_ACCOUNTS = 20_000, 2_000


class State(msgspec.Struct, frozen=True):
    """How many messages each key has before the case begins."""

    name: str
    users: int
    accounts: int

    def __str__(self) -> str:
        return f"{self.name} state"


LARGE = State("large", users=48, accounts=16)
SMALL = State("small", users=8, accounts=4)
HOT = State("hot", users=4_800, accounts=20_800)  # as many messages as the large one, on few keys
SINGLE = State("single-key", users=200_000, accounts=800_000)


def changes_per_account(join: JoinType, state: State) -> int:
    """As-of gives an account one row; the others show it once for each user of its key."""
    return 1 if join is JoinType.ASOF else state.users


class Stage:
    """A broker and, once started, a pipeline over it."""

    def __init__(self, folder: Path, broker: EmbeddedBroker) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.config = folder / "evergrid.yaml"
        self.bootstrap = broker.bootstrap
        self.connection = broker.connection()
        self.changelog = table_topic(PREFIX, GENERATION, TABLE)
        self._pipeline: EvergridProcess | None = None

    def fill(self, users: int, accounts: int, keys: int) -> None:
        """Put a past onto the source topics, a day old, so that retention keeps it."""
        config = {"retention.ms": "-1"}
        specs = [NewTopicSpec(name, _PARTITIONS, config=config) for name in (USERS, ACCOUNTS)]
        topics.create(self.connection, specs)
        start_ms = time.time_ns() // 1_000_000 - _DAY_MS
        with Helper(
            Past(self.bootstrap, users, accounts, keys, start_ms), Loaded, self.folder
        ) as past:
            past.result(_FILL_SECONDS)

    def start(self, join: JoinType, batch_seconds: int = 300) -> None:
        """Start the pipeline, as a user would who says no more than the join's type."""
        settings = {
            "data_dir": str(self.data),
            "kafka": {"bootstrap": self.bootstrap},
            "joins": {
                "final": {
                    "table": TABLE,
                    "type": join.value,
                    "left": USERS,
                    "right": ACCOUNTS,
                }
            },
            "spark": {"batch": f"{batch_seconds}s"},
            "gateway": {"port": 0},
        }
        self.config.write_text(yaml.safe_dump(settings, sort_keys=False))
        self._pipeline = EvergridProcess(
            ["pipeline", "-c", str(self.config)], self.folder / "screen.txt", env=environment()
        )

    @property
    def pipeline(self) -> EvergridProcess:
        if self._pipeline is None:
            raise LookupError("the pipeline was not started")
        return self._pipeline

    def wait_until_live(self) -> None:
        self.pipeline.wait_for_words("is live", _START_SECONDS)

    def warm_up(self, keys: int, each: int) -> None:
        """Send accounts until Java has compiled what runs for each message.

        A query is live seconds before the first row comes through, and slow for many more.
        `each` is how many changes an account causes.
        """
        accounts = max(_WARM_CHANGES // each, _WARM_ACCOUNTS)
        due = self.changes() + accounts * each
        with Helper(Backlog(self.bootstrap, accounts, keys), Loaded, self.folder) as load:
            load.result(_FILL_SECONDS)
        self.wait_for_changes(due, _START_SECONDS)

    def java(self) -> int:
        return java_below(self.pipeline.pid)

    def ends(self) -> dict[int, int]:
        """Where the joined table's changelog ends now."""
        return topics.offsets(self.connection, self.changelog, TopicEnd.LATEST)

    def changes(self) -> int:
        """How many changes the joined table's changelog has had."""
        return sum(self.ends().values())

    def wait_for_changes(self, count: int, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (there := self.changes()) < count:
            self.check()
            if time.monotonic() > deadline:
                raise LinkError(f"{there:,} of {count:,} changes came in {seconds:.0f} seconds")
            time.sleep(_LOOK_SECONDS)

    def check(self) -> None:
        """LinkError when the pipeline ended or restarted a query: then nothing it did counts."""
        said = self.pipeline.said()
        if not self.pipeline.is_running() or " failed (" in said or "cannot go on" in said:
            raise LinkError(f"the pipeline did not run through: {said.strip()[-500:]}")

    def close(self) -> None:
        if self._pipeline is not None:
            self._pipeline.stop()


@contextmanager
def open_stage() -> Iterator[Stage]:
    """A stage with a broker of its own; all of it ends and is removed with the block."""
    with tempfile.TemporaryDirectory(prefix="evergrid-bench-") as name:
        folder = Path(name)
        os.environ.setdefault("KAFKA_JVM_PERFORMANCE_OPTS", _TUNED)
        with EmbeddedBroker(folder / "broker", report=say) as broker:
            stage = Stage(folder, broker)
            try:
                yield stage
            finally:
                stage.close()


@contextmanager
def live_stage(
    join: JoinType, state: State, keys: int, batch_seconds: int = 300
) -> Iterator[Stage]:
    """A stage whose pipeline is live, with `state` in it for each key."""
    with open_stage() as stage:
        say(f"  {keys * (state.users + state.accounts):,} messages of the past")
        stage.fill(keys * state.users, keys * state.accounts, keys)
        say("  starting the pipeline")
        stage.start(join, batch_seconds)
        stage.wait_until_live()
        say("  warming up")
        stage.warm_up(keys, changes_per_account(join, state))
        yield stage


def environment() -> dict[str, str]:
    """Ours without the settings that would win over the generated file."""
    kept = ("EVERGRID_CACHE",)
    return {
        name: value
        for name, value in os.environ.items()
        if name in kept or not name.upper().startswith("EVERGRID_")
    }
