"""Whatever is killed at whatever step of a swap, the swap is carried out and nobody sees it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.client import Timeouts
from evergrid.kafka import topics
from evergrid.model.errors import LinkError
from evergrid.model.generation import State
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from tests.support.free_ports import free_port
from tests.support.reference_viewer import ViewerGroup
from tests.support.soak import NO_RECORD, Counted, Soak
from tests.system.conftest import PATIENCE, MakeWorld
from tests.system.gateways import GatewayProcess
from tests.system.judging import Judge
from tests.system.swapping import Load, Operator, Watch, config

SEED = 20_261_202
EAGER = Timeouts(first_wait=0.1, longest_wait=1.0)
STEPS = ("asked", "preparing", "filled", "switched")
VICTIMS = ("pipeline", "broker", "gateway")
PREFIX = "eg-kills"
HALF = 50


class Scene:
    """All parts, each of which can be killed and is started again."""

    def __init__(self, world: Installation, broker: EmbeddedBroker, name: str, port: int) -> None:
        print(f"seed {SEED}")
        self.world = world
        self.judge = Judge(world)
        self.load = Load(world, name, random.Random(SEED))
        self.operator = Operator(world, self.judge, f"control-{name}")
        self.gateway = GatewayProcess(world, port)
        self._broker = broker
        self._pipeline: EvergridProcess | None = None
        self.applied: list[int] = []  # which generation each round came to

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
            audience = parts.enter_context(ViewerGroup(address, secret, EAGER))
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

    def wait_for_step(self, step: str, row_id: str) -> str:
        """Return as soon as a swap has come so far, or further: then the step that was met."""
        if step == "asked":
            return step
        return wait_for(lambda: self._step_of(row_id), lambda met: met in _since(step), PATIENCE)

    def _step_of(self, row_id: str) -> str:
        try:
            manifest = self.world.manifest()
        except LinkError:
            return ""
        for one in manifest.generations.values():
            if one.cause == row_id and manifest.current == one.number:
                return "switched"
            if one.cause == row_id and one.state is State.PREPARING:
                filled = one.progress is not None and one.progress.step.startswith("writing")
                return "filled" if filled else "preparing"
        return ""


def _since(step: str) -> tuple[str, ...]:
    return STEPS[STEPS.index(step) :]


# What is asked for next, over and over: topics and types in turn, and then what ran at first.
_CHANGES: tuple[dict[str, str], ...] = (
    {"joinType": "inner"},
    {"usersTopic": "users-kills.v2"},
    {"joinType": "asof", "accountsTopic": "accounts-kills.v2"},
    {"joinType": "left", "usersTopic": "users-kills", "accountsTopic": "accounts-kills"},
)


def swap_and_kill(
    scene: Scene,
    rounds: list[tuple[str, str]],
    changes: Iterator[dict[str, str]],
    soak: Soak = NO_RECORD,
) -> set[tuple[str, str]]:
    """Each round asks for a change, and kills a part at a step of it; those that were met."""
    met = set()
    with scene.open() as watch:
        with scene.load.steady.going():
            for step, victim in rounds:
                fields = next(changes)
                row_id = scene.operator.ask(**fields)
                met.add((scene.wait_for_step(step, row_id), victim))
                print(f"{victim} at {step}; met so far: {sorted(met)}")
                scene.kill(victim)
                soak.count(Counted.KILLS)
                row = scene.operator.wait_for(row_id, "applied", "failed", "invalid", "ignored")
                assert row["verdict"] == "applied", row
                scene.applied.append(int(str(row["generation"])))
                scene.operator.applied(scene.applied[-1], **fields)
                soak.count(Counted.SWAPS)
        scene.world.record_duplicates()
        watch.wait_until_right(scene.judge)
        status = scene.world.table("orchestrator_status")
        has_no_orphans(scene.world)
    watch.check(scene.operator.currents, status)
    scene.world.wait_until_exact(["users_ui", "accounts_ui", "final_ui"])
    return met


def has_no_orphans(world: Installation) -> None:
    """Every changelog on the broker belongs to a generation of the manifest."""

    def unknown() -> list[str]:
        known = {
            table.topic
            for one in world.manifest().generations.values()
            for table in one.tables.values()
        }
        there = topics.partitions(world.connection)
        mine = f"{PREFIX}.g"
        return [name for name in there if name.startswith(mine) and name not in known]

    wait_for(unknown, lambda found: not found, PATIENCE)


def scene_of(make_world: MakeWorld, broker: EmbeddedBroker) -> Scene:
    port = free_port()
    settings = config("kills", port, grace="never", drain="3s", generations=4)
    world = make_world({**settings, "internal_topics": {"prefix": PREFIX}})
    return Scene(world, broker, "kills", port)


def test_a_kill_at_each_step(make_world: MakeWorld, broker: EmbeddedBroker) -> None:
    rounds = list(zip(STEPS, itertools.cycle(VICTIMS), strict=False))
    back = [("preparing", "broker"), ("preparing", "pipeline")]
    scene = scene_of(make_world, broker)
    met = swap_and_kill(scene, rounds + back, itertools.cycle(_CHANGES))
    assert {"asked", "preparing", "switched"} <= {step for step, _ in met}
    # What is asked for again is kept, and neither kill made it anything but that.
    assert scene.applied[4:] == scene.applied[:2]


@pytest.mark.parametrize(
    "half",
    [
        pytest.param(0, marks=pytest.mark.soak(part="swap-kills")),
        pytest.param(1, marks=pytest.mark.soak(part="swap-kills-again")),
    ],
)
def test_every_kill_at_every_step_a_hundred_times(
    make_world: MakeWorld, broker: EmbeddedBroker, soak: Soak, half: int
) -> None:
    every = list(itertools.product(STEPS, VICTIMS))
    rounds = [every[number % len(every)] for number in range(soak.figure(HALF))]
    rng = random.Random(soak.seed + half)
    rng.shuffle(rounds)
    scene = scene_of(make_world, broker)
    changes = scene.load.changes(rng, _CHANGES[-1])  # some of it is kept, some made anew
    met = swap_and_kill(scene, rounds, changes, soak)
    # A step may be over before it was seen, so that not every kill came at its own.
    assert len(rounds) < len(every) or {step for step, _ in met} == {*STEPS}
