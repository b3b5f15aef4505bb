"""Several pipelines with one prefix: one works, the others wait, and nobody sees them change."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

import msgspec

from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.manifest import LastNumber
from evergrid.changelog.reader import read_to_end
from evergrid.client import Timeouts
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from tests.support.free_ports import free_port
from tests.support.reference_viewer import ViewerGroup
from tests.system.conftest import PATIENCE, MakeWorld
from tests.system.gateways import GatewayProcess
from tests.system.judging import Judge
from tests.system.swapping import Load, Operator, Watch, config

SEED = 20_261_203
NAME = "standby"
EAGER = Timeouts(first_wait=0.1, longest_wait=1.0)
TEMPORARY_FAILURE = 75


class Pipelines:
    """Pipelines of one configuration; each has the data directory that the test gives it."""

    def __init__(self, world: Installation, parts: ExitStack) -> None:
        self._world = world
        self._parts = parts
        self._numbers = count(1)

    def start(self, directory: str) -> EvergridProcess:
        env = {**os.environ, "EVERGRID_DATA_DIR": str(self._world.folder / directory)}
        screen = self._world.folder / f"pipeline{next(self._numbers)}.txt"
        process = EvergridProcess(["pipeline", "-c", str(self._world.file)], screen, env)
        self._parts.callback(process.kill)
        return process

    def start_standby(self, directory: str) -> EvergridProcess:
        process = self.start(directory)
        process.wait_for_words("Waiting as a standby", PATIENCE)
        return process


def live(world: Installation, process: EvergridProcess) -> int:
    """The generation that is on screens when this pipeline has made it so."""
    process.wait_for_words("is live", PATIENCE)
    current = world.manifest().current
    assert current is not None
    return current


@contextmanager
def stopwatch(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - began:.1f} s")


def numbers_taken(world: Installation) -> list[int]:
    records = read_to_end(world.connection, manifest_topic(world.prefix))
    return [
        msgspec.json.decode(one.value or b"", type=LastNumber).highest
        for batch in records
        for one in batch
        if one.key == b"numbered"
    ]


def test_a_standby_takes_over_from_a_killed_a_paused_and_a_stopped_pipeline(
    make_world: MakeWorld,
) -> None:
    print(f"seed {SEED}")
    port = free_port()
    world = make_world(config(NAME, port))
    judge, load = Judge(world), Load(world, NAME, random.Random(SEED))
    operator = Operator(world, judge, f"control-{NAME}")
    load.make_topics()
    load.send(20)
    with ExitStack() as parts:
        gateway = parts.enter_context(GatewayProcess(world, port))
        pipelines = Pipelines(world, parts)
        first = pipelines.start("data")
        operator.applied(live(world, first))
        audience = parts.enter_context(ViewerGroup(gateway.address, gateway.secret, EAGER))
        watch = Watch([audience])
        watch.wait_until_right(judge)
        with load.steady.going():
            second = pipelines.start_standby("second")
            assert f"(process {first.pid}, since" in second.said()
            killed(first, second)
            operator.applied(live(world, second))
            third = pipelines.start_standby("third")
            taken_from_a_paused_one(second, third)
            operator.applied(live(world, third))
            comes_back(second)
            assert third.is_running(), third.said()
            fourth = pipelines.start_standby("third")
            stopped(third, fourth)
            assert live(world, fourth) == operator.currents[-1]
        world.wait_until_exact()
        watch.wait_until_right(judge)
        audience.check()
        watch.check(operator.currents, world.table("orchestrator_status"))
        numbers = numbers_taken(world)
        assert numbers == sorted(set(numbers)), "one was taken twice"
        assert sorted({*operator.currents}) == operator.currents, "each takeover has a new one"
        fourth.stop_in_order()
        owner = world.manifest().owner
        assert owner is not None
        assert (owner.epoch, owner.pid, owner.released) == (4, fourth.pid, True)


def killed(first: EvergridProcess, second: EvergridProcess) -> None:
    """`kill -9`: the standby sees that nothing is written any more. It has no checkpoints."""
    assert "Taking over" not in second.said()
    with stopwatch("kill -9 to takeover"):
        first.kill()
        second.wait_for_words("Taking over: the pipeline on", PATIENCE)
    assert "writes nothing any more" in second.said()


def taken_from_a_paused_one(second: EvergridProcess, third: EvergridProcess) -> None:
    with stopwatch("SIGSTOP to takeover"):
        os.kill(second.pid, signal.SIGSTOP)
        third.wait_for_words("Taking over: the pipeline on", PATIENCE)


def comes_back(second: EvergridProcess) -> None:
    """It notices that another took over, and ends."""
    with stopwatch("SIGCONT to end"):
        os.kill(second.pid, signal.SIGCONT)
        assert second.wait(PATIENCE) == TEMPORARY_FAILURE, second.said()
    assert "another pipeline has taken over the topics" in second.said()


def stopped(third: EvergridProcess, fourth: EvergridProcess) -> None:
    """They share a directory, and with it the checkpoints."""
    assert "is in use by another pipeline" in fourth.said()
    third.stop_in_order()
    fourth.wait_for_words("from its checkpoint", PATIENCE)
