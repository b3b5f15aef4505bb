"""Busy sources under three joins: long streams, backlogs, and kills at chosen moments."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evergrid.kafka import topics
from evergrid.model.source import TopicEnd
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Send
from tests.support.soak import NO_RECORD, Counted, Soak
from tests.support.traffic import Stream, Traffic
from tests.system.conftest import ACCOUNTS, PATIENCE, USERS
from tests.system.steady import Steady

SIDES = {"left": "users", "right": "accounts"}
JOINED = ("asof_ui", "left_ui", "inner_ui")
IDLE_SECONDS = 120.0  # a table that is wrong and has rested for so long stays wrong
BATCH_SECONDS = 5
_LOOK_SECONDS = 0.05
_TRICKLE = 2

# Event time goes on by half a minute in a thousand messages, so that minutes are many messages.
HOT = Traffic(
    seed=0,
    keys=5,
    left_share=0.3,
    ties=3,
    step_ms=100,
    late_share=0.05,
    late_ms=300_000,
    repeat_share=0.02,
    no_key_share=0.01,
    bad_share=0.01,
    long_group_share=0.02,
)


def busy_config(name: str, **more: object) -> dict[str, object]:
    """The three joins over the same two sources; the inner one by order, for it has all pairs."""
    by_order = {"left_key": "orderId", "right_key": "orderId"}
    order = {"orderId": "text"}
    source = {"key": "userId"}
    users = {**source, "topic": f"users-{name}", "table": "users_ui", "fields": USERS | order}
    accounts = {"topic": f"accounts-{name}", "table": "accounts_ui", "fields": ACCOUNTS | order}
    return {
        "sources": {"users": users, "accounts": {**source, **accounts}},
        "joins": {
            "asof": {"table": "asof_ui", "type": "asof", **SIDES},
            "left": {"table": "left_ui", "type": "left", **SIDES},
            "inner": {"table": "inner_ui", "type": "inner", **SIDES, **by_order},
        },
        "spark": {"batch": f"{BATCH_SECONDS}s"},
        **more,
    }


class Messages:
    """A stream that is sent piece by piece; prints its seed."""

    def __init__(self, world: Installation, traffic: Traffic) -> None:
        print(f"seed {traffic.seed}: {traffic}")
        sources = world.spec.sources
        self.world = world
        self.sent = 0
        self._users = sources["users"].topic
        self._stream = Stream(traffic, sources["users"], sources["accounts"], "orderId")

    def take(self, count: int) -> list[Send]:
        """The next messages, not sent yet."""
        start, self.sent = self.sent, self.sent + count
        return list(self._stream.sends(start, self.sent))

    def send(self, count: int) -> None:
        self.world.send(self.take(count))

    def send_sides(self, count: int, *, left_first: bool) -> None:
        """The whole of one side, then the whole of the other."""
        sends = self.take(count)
        sends.sort(key=lambda send: (send.topic == self._users) != left_first)
        self.world.send(sends)

    @contextmanager
    def flowing(self, lot: int, most: int = 20_000) -> Iterator[None]:
        """Messages that go on coming from a thread, `lot` of them five times a second.

        After `most` of them only a few: a busy machine takes longer, and need not get more to do.
        """
        enough = self.sent + most
        with Steady(lambda: self.send(lot if self.sent < enough else _TRICKLE)).going():
            yield


def wait_until_exact(world: Installation) -> None:
    """Return when all tables are right; what fails says how many rows of each table differ."""
    began = time.monotonic()
    try:
        world.wait_until_exact(idle_seconds=IDLE_SECONDS)
    except AssertionError as error:
        raise AssertionError(f"{world.summary()}\n{error}") from None
    print(f"exact after {time.monotonic() - began:.1f} s: {len(world.messages)} messages")


def changes(world: Installation, table: str) -> int:
    """How many changes a table's changelog was ever given."""
    topic = world.manifest().tables()[table].topic
    return sum(topics.offsets(world.connection, topic, TopicEnd.LATEST).values())


class Moments:
    """Starts pipelines and kills them: inside catching up, around the hand-over, in real time."""

    def __init__(self, world: Installation, rng: random.Random, soak: Soak = NO_RECORD) -> None:
        self._world = world
        self._rng = rng
        self._soak = soak
        self.kills = 0

    def kill_by_turns(self, count: int) -> None:
        """So many starts, each of which ends with a kill at the next kind of moment."""
        kinds = itertools.cycle((self._in_a_batch, self._at_a_commit, self._in_real_time))
        for kind in itertools.islice(kinds, count):
            self._killed(kind)

    def _killed(self, wait: Callable[[EvergridProcess], None]) -> None:
        began = time.monotonic()
        process = self._world.start_pipeline()
        try:
            wait(process)
        finally:
            process.kill()
        self.kills += 1
        self._soak.count(Counted.KILLS)
        seconds = time.monotonic() - began
        print(f"kill {self.kills} {wait.__name__.strip('_')} {seconds:.1f} s after the start")

    def _in_a_batch(self, process: EvergridProcess) -> None:
        self._wait_for_more(process, "offsets", most_seconds=1.0)

    def _at_a_commit(self, process: EvergridProcess) -> None:
        """The first batch of a start is the catching up: what comes after it is real time."""
        self._wait_for_more(process, "commits", most_seconds=2.0)

    def _in_real_time(self, process: EvergridProcess) -> None:
        process.wait_for_words("is live", PATIENCE)
        time.sleep(self._rng.uniform(0, BATCH_SECONDS * 1.5))

    def _wait_for_more(self, process: EvergridProcess, folder: str, most_seconds: float) -> None:
        """Until one join, a random one, has begun or committed a batch; and then some more."""
        query = self._rng.choice(("join-asof", "join-left", "join-inner"))
        checkpoint = self._world.checkpoints()[query] / folder
        newest = _newest(checkpoint)
        deadline = time.monotonic() + PATIENCE
        while _newest(checkpoint) <= newest:
            assert process.is_running(), process.said()
            assert time.monotonic() < deadline, f"no batch of {query}:\n{process.said()}"
            time.sleep(_LOOK_SECONDS)
        time.sleep(self._rng.uniform(0, most_seconds))


def _newest(folder: Path) -> int:
    return max((int(file.name) for file in folder.glob("*") if file.name.isdecimal()), default=-1)
