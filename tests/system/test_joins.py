"""Exact: whatever the order, the pieces and the kills, all three joins equal the oracle."""

from __future__ import annotations

import random

import pytest

from evergrid.changelog.codec import Row
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Script, Send, random_case
from tests.support.soak import NO_RECORD, Counted, Soak
from tests.system.conftest import PATIENCE, MakeWorld, row_count, two_sources

SEED = 20_261_115
CASES = 300
KILLS = 3
BATCH_SECONDS = 20
TRIES = 4
QUERIES = {
    "users_ui": "raw-users",
    "accounts_ui": "raw-accounts",
    "asof_ui": "join-asof",
    "left_ui": "join-left",
    "inner_ui": "join-inner",
}


def config(name: str) -> dict[str, object]:
    """The three joins over the same two sources, so that one run serves all of them."""
    sides = {"left": "users", "right": "accounts"}
    return {
        "sources": two_sources(name),
        "joins": {
            "asof": {"table": "asof_ui", "type": "asof", **sides},
            "left": {"table": "left_ui", "type": "left", **sides},
            "inner": {"table": "inner_ui", "type": "inner", **sides},
        },
        "spark": {"batch": f"{BATCH_SECONDS}s"},
    }


def cases(world: Installation, rng: random.Random) -> list[Send]:
    """Every case's messages, those of different cases in any order between each other."""
    script = Script(partitions=2)
    join = world.spec.joins["asof"]
    scripts = [
        random_case(rng, join, world.spec.sources, f"c{number}-", script) for number in range(CASES)
    ]
    turns = [index for index, script in enumerate(scripts) for _ in script]
    rng.shuffle(turns)
    left = [iter(script) for script in scripts]
    return [next(left[index]) for index in turns]


def pieces(sends: list[Send], rng: random.Random, count: int) -> list[list[Send]]:
    """In random pieces; the first is large enough to change every table several times."""
    cuts = sorted(rng.sample(range(len(sends) // 8, len(sends)), count - 1))
    return [sends[start:end] for start, end in zip([0, *cuts], [*cuts, len(sends)], strict=True)]


def test_three_joins_equal_the_oracle_through_kills(make_world: MakeWorld) -> None:
    world = make_world(config("joins"))
    first = exact_through_kills(world, SEED, KILLS)
    same_again_from_an_empty_checkpoint(world, first)


@pytest.mark.soak(part="join-kills")
@pytest.mark.parametrize("number", range(5))
def test_a_hundred_kills(make_world: MakeWorld, soak: Soak, number: int) -> None:
    world = make_world(config(f"soak{number}"))
    exact_through_kills(world, soak.seed + number, soak.figure(20), soak)
    soak.count(Counted.ROWS, row_count(world))


def exact_through_kills(
    world: Installation, seed: int, kills: int, soak: Soak = NO_RECORD
) -> dict[str, dict[str, Row]]:
    """Send all cases in pieces, kill between and inside them; the tables at the end."""
    print(f"seed {seed}")
    rng = random.Random(seed)
    world.make_topics(partitions=2)
    parts = pieces(cases(world, rng), rng, kills + 2)
    process = world.start_live()
    try:
        shown_in_real_time(world, parts[0])
        for number, part in enumerate(parts[1:]):
            middle = len(part) // 2
            world.send(part[:middle])
            if number < kills:
                process = killed_and_started(world, process, inside=rng.random() < 0.7)
                soak.count(Counted.KILLS)
            world.send(part[middle:])
        world.wait_until_exact()
        return {name: world.table(name) for name in world.tables()}
    finally:
        process.kill()


def shown_in_real_time(world: Installation, sends: list[Send]) -> None:
    """Each query shows rows before it commits the batch that made them."""
    shown: set[str] = set()
    size = len(sends) // TRIES + 1
    for start in range(0, len(sends), size):  # a batch may end between a row and our look at it
        shown |= shown_before_a_commit(world, sends[start : start + size])
        world.wait_until_exact()
    assert shown == QUERIES.keys(), "no output before a commit: not real-time mode"


def shown_before_a_commit(world: Installation, sends: list[Send]) -> set[str]:
    commits = world.commits()
    rows = {name: len(world.table(name)) for name in QUERIES}
    world.send(sends)
    waiting, shown = (
        {name for name in QUERIES if len(world.expected(name)) > rows[name]},
        set[str](),
    )

    def have_all_grown() -> bool:
        for name in [name for name in waiting if len(world.table(name)) > rows[name]]:
            waiting.remove(name)
            query = QUERIES[name]
            if world.commits().get(query) == commits.get(query):
                shown.add(name)
        return not waiting

    world.wait_until(have_all_grown, PATIENCE)
    return shown


def killed_and_started(
    world: Installation, process: EvergridProcess, *, inside: bool
) -> EvergridProcess:
    """`kill -9` of driver and Java, inside a batch or after all of it was written."""
    if not inside:
        world.wait_until_exact(["left_ui"])
    process.kill()
    return world.start_live()


def same_again_from_an_empty_checkpoint(
    world: Installation, first: dict[str, dict[str, Row]]
) -> None:
    """With its checkpoints gone the pipeline makes a new generation, of the same ids and rows."""
    generation = world.manifest().current
    for checkpoint in (world.data_dir / "generations").rglob("metadata"):
        checkpoint.unlink()
    process = world.start_live()
    try:
        assert world.manifest().current == (generation or 0) + 1
        assert "is missing" in process.said()
        world.wait_until_exact()
        assert {name: world.table(name) for name in world.tables()} == first
    finally:
        process.kill()
