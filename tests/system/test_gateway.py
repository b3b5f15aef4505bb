"""From a message to a screen, with all parts real, while all of them are killed in turn."""

from __future__ import annotations

import datetime
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from bench.usage import java_below

import evergrid
from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.client import LiveWindow, Timeouts
from evergrid.protocol.messages import Live
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Script, random_case
from tests.support.free_ports import free_port
from tests.support.reference_viewer import (
    Viewer,
    ViewerGroup,
    WindowOptions,
    never_blank,
    never_fewer,
)
from tests.support.soak import Counted, Soak
from tests.system.conftest import PATIENCE, MakeWorld, row_count, two_sources
from tests.system.gateways import SERVING, GatewayProcess, gateway_section
from tests.system.judging import Judge
from tests.system.steady import Steady

SEED = 20_261_121
EAGER = Timeouts(first_wait=0.1, longest_wait=1.0)
ROUNDS = 17  # of six kills
TABLES = ["users_ui", "accounts_ui", "final_ui", "quarantine"]

# Raw tables only grow, so the first two may never hold fewer rows than before. Rows leave the last
# one when their account comes, so that it may well be empty.
VIEWS: list[tuple[str, WindowOptions]] = [
    ("users_ui", {"offset": -50, "limit": 50}),
    ("accounts_ui", {"limit": 5000}),
    ("final_ui", {"order": "-balance,name:first", "limit": 100}),
    ("final_ui", {"where": {"column": "balance", "op": "greater", "value": 0}, "limit": 60}),
    ("final_ui", {"where": {"accountType": None}, "order": "-ts", "limit": 40, "offset": 5}),
]


def config(name: str, port: int) -> dict[str, object]:
    return {
        "sources": two_sources(name),
        "joins": {"final": {"table": "final_ui", "left": "users", "right": "accounts"}},
        "spark": {"batch": "5s"},
        "gateway": gateway_section(port),
    }


class Producer:
    """Sends cases one after the other, also through a broker's absence."""

    def __init__(self, world: Installation, rng: random.Random) -> None:
        self._world = world
        self._rng = rng
        self._number = 0
        self.steady = Steady(self.send)

    def send(self) -> None:
        self._number += 1
        spec, script = self._world.spec, Script(partitions=2)
        prefix = f"p{self._number}-"
        sends = random_case(self._rng, spec.joins["final"], spec.sources, prefix, script)
        self._world.send(sends)

    def wait_for_more(self, count: int) -> None:
        """Return when so many more messages are on the broker."""
        enough = len(self._world.messages) + count

        def sent() -> int:
            assert self.steady.problem is None, f"the producer failed: {self.steady.problem}"
            return len(self._world.messages)

        wait_for(sent, lambda now: now >= enough, PATIENCE)


def test_windows_and_snapshots_equal_the_oracle_through_kills(
    make_world: MakeWorld, broker: EmbeddedBroker
) -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    port = free_port()
    world = make_world(config("gateway", port))
    world.make_topics(partitions=2)
    judge, producer = Judge(world), Producer(world, random.Random(SEED + 1))
    gateway = GatewayProcess(world, port)
    with gateway, ViewerGroup(gateway.address, gateway.secret, EAGER) as audience:
        viewers = watching(audience)
        pipeline = world.start_live()
        try:
            producer.send()
            wait_until_right(judge, viewers)
            said_when_spark_stands_still(pipeline, producer, viewers)
            wait_until_right(judge, viewers)
            with producer.steady.going():
                one_by_one(rng, producer, gateway, broker)
                producer.wait_for_more(rng.randrange(20, 120))
        finally:
            pipeline.kill()
        with producer.steady.going():
            producer.wait_for_more(rng.randrange(20, 120))
        gateway.kill()
        with both(world) as running:
            with producer.steady.going():
                producer.wait_for_more(rng.randrange(20, 120))
                broker.kill()
                broker.start()
                producer.wait_for_more(rng.randrange(20, 120))
            wait_until_right(judge, viewers)
            snapshots_are_right(judge, gateway)
            assert running.is_running()
        audience.check()


@pytest.mark.soak(part="kills")
def test_a_hundred_kills_of_all_parts_under_viewers(
    make_world: MakeWorld, broker: EmbeddedBroker, soak: Soak
) -> None:
    rng = random.Random(soak.seed)
    port = free_port()
    world = make_world(config("hundred", port))
    world.make_topics(partitions=2)
    judge, producer = Judge(world), Producer(world, random.Random(soak.seed + 1))
    gateway = GatewayProcess(world, port)
    with gateway, ViewerGroup(gateway.address, gateway.secret, EAGER) as audience:
        viewers = watching(audience)
        pipeline = world.start_live()
        try:
            for _ in range(soak.figure(ROUNDS)):
                kills = ["pipeline", "gateway", "broker"] * 2
                rng.shuffle(kills)
                with producer.steady.going():
                    for victim in kills:
                        producer.wait_for_more(rng.randrange(20, 120))
                        if victim == "pipeline":
                            pipeline.kill()
                            pipeline = world.start_live()
                        else:
                            part = gateway if victim == "gateway" else broker
                            part.kill()
                            part.start()
                        soak.count(Counted.KILLS)
                world.record_duplicates()
                wait_until_right(judge, viewers)
                audience.check()
            snapshots_are_right(judge, gateway)
            soak.count(Counted.ROWS, row_count(world))
        finally:
            pipeline.kill()


def watching(audience: ViewerGroup) -> list[Viewer]:
    rules = [(never_blank, never_fewer)] * 2 + [(never_blank,)] * 2 + [()]
    return [
        audience.add(table, rule, **view) for rule, (table, view) in zip(rules, VIEWS, strict=True)
    ]


def pipeline_is_behind(window: LiveWindow) -> bool:
    return window.state is Live.STALE and window.message.startswith("The pipeline")


def said_when_spark_stands_still(
    pipeline: EvergridProcess, producer: Producer, viewers: list[Viewer]
) -> None:
    """A process that hangs does not end, and its screens must not look as if all were well."""
    java = java_below(pipeline.pid)
    os.kill(java, signal.SIGSTOP)
    try:
        stopped = datetime.datetime.now(datetime.UTC)
        producer.send()
        for viewer in viewers:
            stale = viewer.wait_for(pipeline_is_behind, PATIENCE)
            assert stale.stale_since is not None
            assert abs(stale.stale_since - stopped) < datetime.timedelta(seconds=30)
    finally:
        os.kill(java, signal.SIGCONT)
    for viewer in viewers:
        viewer.wait_for(lambda window: window.live, PATIENCE)


def one_by_one(
    rng: random.Random, producer: Producer, gateway: GatewayProcess, broker: EmbeddedBroker
) -> None:
    """Kill gateway and broker, each at a random moment, and start it again."""
    kills: list[GatewayProcess | EmbeddedBroker] = [gateway, gateway, broker]
    rng.shuffle(kills)
    for part in kills:
        producer.wait_for_more(rng.randrange(20, 120))
        part.kill()
        part.start()


@contextmanager
def both(world: Installation) -> Iterator[EvergridProcess]:
    """Pipeline and gateway, started by one command."""
    running = EvergridProcess(["run", "-c", str(world.file)], world.folder / "run.txt")
    try:
        running.wait_for_words(SERVING, PATIENCE)
        running.wait_for_words("is live", PATIENCE)
        yield running
    except BaseException:
        print(f"evergrid run said:\n{running.said()}")
        raise
    finally:
        running.stop(20)


def wait_until_right(judge: Judge, viewers: list[Viewer]) -> None:
    """Return when each viewer sees what the oracle says."""
    for viewer, (table, view) in zip(viewers, VIEWS, strict=True):
        judge.wait_until_shown(viewer, table, view)


def snapshots_are_right(judge: Judge, gateway: GatewayProcess) -> None:
    """All rows over HTTP, and views of them, are what the oracle says."""
    with evergrid.connect(gateway.address, gateway.secret) as client:
        for name in TABLES:
            wait_for(lambda n=name: judge.of_table(n, client.snapshot(n)), _is_empty, PATIENCE)  # type: ignore[misc]
        for name, view in VIEWS:
            assert not judge.of_rows(name, client.snapshot(name, **view), view)


def _is_empty(text: str) -> bool:
    return not text
