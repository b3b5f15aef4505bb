"""Every example runs as it is: history first, then live messages, exact at the end."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Send, object_text
from tests.system.conftest import MakeWorld

EXAMPLES = Path(__file__).parents[2] / "examples"
SEED = 20_261_117
START_MS = 1_767_225_600_000
MESSAGES = 400


def messages(world: Installation, rng: random.Random) -> list[Send]:
    """Valid messages with few keys, so that they meet, in any order of time."""
    sends = []
    for number in range(MESSAGES):
        source = rng.choice(list(world.spec.sources.values()))
        at = START_MS + rng.randrange(200) * 10
        fixed: dict[str, str | None] = {source.key: f'"{rng.randrange(80)}"'}
        if "customer" in source.fields:
            fixed["customer"] = str(rng.randrange(80))
        if source.time is not None:
            fixed[source.time] = str(at * (1000 if "us" in source.fields[source.time] else 1))
        value = object_text(rng, source, fixed)
        sends.append(Send(source.topic, number % 2, at, None, value.encode()))
    return sends


# The default configuration is what the demo runs, and that has a test of its own; the shop
# takes two minutes, and what it adds to the others is held by the tests of configuration.
LONG = ("default", "shop")
NAMES = [
    pytest.param(path.stem, marks=pytest.mark.soak(part="demo") if path.stem in LONG else ())
    for path in sorted(EXAMPLES.glob("*.yaml"))
]


@pytest.mark.parametrize("name", NAMES)
def test_example(name: str, make_world: MakeWorld) -> None:
    print(f"seed {SEED}")
    config = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    for source in config["sources"].values():
        source["topic"] = f"{name}.{source['topic']}"
    world = make_world(config)
    world.make_topics()
    sends = messages(world, random.Random(SEED))
    world.send(sends[: MESSAGES // 2])
    with world.start_live() as process:
        assert "catching up with the past" in process.said()
        world.wait_until_exact()
        world.send(sends[MESSAGES // 2 :])
        world.wait_until_exact()
        assert all(world.table(join.table) for join in world.spec.joins.values())
