"""Whatever is killed at whatever step of a swap, the swap is carried out and nobody sees it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from evergrid.client import Patience
from evergrid.kafka.broker import EmbeddedBroker
from evergrid.model.errors import LinkError
from evergrid.model.generation import State
from evergrid.testing.processes import EvergridProcess
from evergrid.testing.tables import wait_for
from evergrid.testing.viewer import Audience
from evergrid.testing.world import World
from tests.system.conftest import PATIENCE, MakeWorld
from tests.system.gateways import GatewayProcess, free_port
from tests.system.judging import Judge
from tests.system.swapping import Load, Operator, Watch, config

SEED = 20_261_202
EAGER = Patience(first_wait=0.1, longest_wait=1.0)
STEPS = ("asked", "preparing", "filled", "switched")
VICTIMS = ("pipeline", "broker", "gateway")


class Scene:
    """All parts, each of which can be killed and is started again."""

    def __init__(self, world: World, broker: EmbeddedBroker, name: str, port: int) -> None:
        print(f"seed {SEED}")
        self.world = world
        self.judge = Judge(world)
        self.load = Load(world, name, random.Random(SEED))
        self.operator = Operator(world, self.judge, f"control-{name}")
        self.gateway = GatewayProcess(world, port)
        self._broker = broker
        self._pipeline: EvergridProcess | None = None

    @contextmanager
    def open(self) -> Iterator[Watch]:
        self.load.make_topics()
        self.load.send(20)
        with ExitStack() as parts:
            parts.enter_context(self.gateway)
            self._pipeline = self.world.start_live()
            parts.callback(self._stop)
            self.operator.applied(1)
            address, secret = self.gateway.address, self.gateway.secret
            audience = parts.enter_context(Audience(address, secret, EAGER))
            watch = Watch([audience])
            watch.wait_until_right(self.judge)
            yield watch
            audience.check()

    def _stop(self) -> None:
        assert self._pipeline is not None
        self._pipeline.stop()

    def kill(self, victim: str) -> None:
        """`kill -9`, and started again by who watches over it."""
        if victim == "pipeline":
            assert self._pipeline is not None
            self._pipeline.kill()
            self._pipeline = self.world.start_pipeline()
        elif victim == "gateway":
            self.gateway.kill()
            self.gateway.start()
        else:
            self._broker.kill()
            self._broker.start()

    def wait_for_step(self, step: str, row_id: str) -> None:
        """Return as soon as a swap has come so far."""
        if step != "asked":
            wait_for(lambda: self._has_come_to(step, row_id), bool, PATIENCE)

    def _has_come_to(self, step: str, row_id: str) -> bool:
        try:
            manifest = self.world.manifest()
        except LinkError:
            return False
        mine = [one for one in manifest.generations.values() if one.cause == row_id]
        for one in mine:
            if manifest.current == one.number:
                return True  # later than asked for, so it was passed
            filled = one.progress is not None and one.progress.step.startswith("writing")
            if one.state is State.PREPARING and (
                step == "preparing" or (step == "filled" and filled)
            ):
                return True
        return False


# What is asked for next, over and over: topics and types in turn.
_CHANGES: tuple[dict[str, str], ...] = (
    {"joinType": "inner"},
    {"usersTopic": "users-kills.v2"},
    {"joinType": "asof", "accountsTopic": "accounts-kills.v2"},
    {"joinType": "left", "usersTopic": "users-kills", "accountsTopic": "accounts-kills"},
)


def swap_and_kill(scene: Scene, rounds: list[tuple[str, str]]) -> None:
    """Each round asks for a change, and kills a part at a step of it."""
    changes = itertools.cycle(_CHANGES)
    with scene.open() as watch:
        with scene.load.steady.going():
            for step, victim in rounds:
                print(f"{victim} at {step}")
                fields = next(changes)
                row_id = scene.operator.ask(**fields)
                scene.wait_for_step(step, row_id)
                scene.kill(victim)
                row = scene.operator.wait_for(row_id, "applied", "failed", "invalid", "ignored")
                assert row["verdict"] == "applied", row
                scene.operator.applied(int(str(row["generation"])), **fields)
        watch.wait_until_right(scene.judge)
        status = scene.world.table("orchestrator_status")
    watch.check(scene.operator.currents, status)
    scene.world.wait_until_exact(["users_ui", "accounts_ui", "final_ui"])


def scene_of(make_world: MakeWorld, broker: EmbeddedBroker) -> Scene:
    port = free_port()
    world = make_world(config("kills", port, grace="never", drain="3s", generations=4))
    return Scene(world, broker, "kills", port)


def test_a_kill_at_each_step(make_world: MakeWorld, broker: EmbeddedBroker) -> None:
    rounds = list(zip(STEPS, itertools.cycle(VICTIMS), strict=False))
    swap_and_kill(scene_of(make_world, broker), rounds)


@pytest.mark.soak
def test_every_kill_at_every_step_a_hundred_times(
    make_world: MakeWorld, broker: EmbeddedBroker
) -> None:
    every = list(itertools.product(STEPS, VICTIMS))
    rounds = [every[number % len(every)] for number in range(100)]
    random.Random(SEED).shuffle(rounds)
    swap_and_kill(scene_of(make_world, broker), rounds)
