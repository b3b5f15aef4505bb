"""An inner join of a key that many messages share: refused, or limited, and always told."""

from __future__ import annotations

import itertools
import json
import random

import yaml

from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.testing import oracle
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import START_MS, Send
from tests.system.conftest import PATIENCE, MakeWorld
from tests.system.judging import Judge
from tests.system.swapping import Operator, config

NAME = "hot"
SEED = 16_092
HOT = 700  # messages of each side: more than real-time mode reads without micro-batches
FEW = 10  # messages of each side of each other key
PAIRS = 15


def message(side: str, key: str, at: int) -> Send:
    fields = {"userId": key, "name": f"n{at}", "accountType": f"t{at}", "balance": at}
    value = json.dumps(fields).encode()
    return Send(f"{side}-{NAME}", at % 2, START_MS + at, None, value)


def history() -> list[Send]:
    """A hot key and two others, with ties and in no order."""
    rng = random.Random(SEED)
    return [
        message(side, key, rng.randrange(5_000))
        for side in ("users", "accounts")
        for key, count in (("hot", HOT), ("one", FEW), ("two", FEW))
        for _ in range(count)
    ]


def test_an_inner_join_of_a_hot_key_is_refused_or_limited(make_world: MakeWorld) -> None:
    print(f"seed {SEED}")
    settings = config(NAME, 0)
    settings["joins"]["final"]["backlog_pairs"] = HOT * HOT // 2  # type: ignore[index]
    world = make_world(settings)
    world.make_topics()
    topics.create(world.connection, [NewTopicSpec(f"control-{NAME}", 1, 1)])
    world.send(history())
    with world.start_live():
        a_control_message_is_refused(world)
    with_a_limit_for_each_message(world)


def a_control_message_is_refused(world: Installation) -> None:
    """With the reason; the join that runs goes on."""
    operator = Operator(world, Judge(world), f"control-{NAME}")
    row = operator.wait_for(operator.ask(joinType="inner"), "applied", "failed")
    reason, total = str(row["reason"]), HOT * HOT + 2 * FEW * FEW
    assert row["verdict"] == "failed", row
    assert f"would make up to {total:,} rows" in reason
    assert f"joins.final.backlog_pairs allows {HOT * HOT // 2:,}" in reason
    assert f"hot ({HOT:,} × {HOT:,} messages), " in reason
    assert "Ask for another type of join" in reason
    assert operator.status(int(str(row["generation"])))["lastError"] == reason
    assert world.manifest().current == 1
    world.send([message("users", "hot", 20_000), message("accounts", "one", 20_001)])
    world.wait_until_exact(["final_ui"])


def with_a_limit_for_each_message(world: Installation) -> None:
    """The configuration's own join has the rows within the limit, and the gap is told."""
    final = world.config["joins"]["final"]  # type: ignore[index]
    final |= {"type": "inner", "pairs": PAIRS}
    world.file.write_text(yaml.safe_dump(world.config, sort_keys=False))
    world.spec = oracle.from_config(world.config)
    with world.start_pipeline() as process:
        process.wait_for_words("Generation 3 is live", PATIENCE)
        world.wait_until_exact(["final_ui"])
        told(world, {"hot"})
        before = len(world.expected("final_ui"))
        at = itertools.count(30_000)
        for side in ("users", "accounts", "users"):  # one by one, so that they come in order
            world.send([message(side, "hot", next(at)), message(side, "new", next(at))])
            world.wait_until_exact(["final_ui"])
        assert len(world.expected("final_ui")) == before + 3 * PAIRS + 2
        told(world, {"hot"})


def told(world: Installation, keys: set[str]) -> None:
    def found() -> set[str]:
        manifest = world.manifest()
        gaps = manifest.gaps.topics.get(manifest.tables()["final_ui"].topic, ())
        return {key for gap in gaps if gap.reason == "pairs" for key in gap.keys}

    world.wait_until(lambda: found() == keys, PATIENCE)
