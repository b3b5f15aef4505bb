"""A user's own limit on the history of a key: what it leaves out is said, and only with a limit."""

from __future__ import annotations

import json

import yaml

from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Send
from tests.system.conftest import PATIENCE, MakeWorld, two_sources

START_MS = 1_767_225_600_000


def user(number: int, at: int, key: str = "u") -> Send:
    value = {"userId": key, "name": f"name {number}"}
    return Send("users-bound", 0, START_MS + at, None, json.dumps(value).encode())


def account(at: int, key: str = "u") -> Send:
    value = {"userId": key, "accountType": f"at {at}", "balance": 1}
    return Send("accounts-bound", 0, START_MS + at, None, json.dumps(value).encode())


def test_live_joins_look_back_so_far_and_no_further(make_world: MakeWorld) -> None:
    sides = {"left": "users", "right": "accounts"}
    kept = {"left": 3, "right": 2}
    world = make_world(
        {
            "sources": two_sources("bound"),
            "joins": {
                "asof": {"table": "asof_ui", "type": "asof", **sides, "history": kept},
                "left": {"table": "left_ui", "type": "left", **sides, "history": {"left": 3}},
                "inner": {"table": "inner_ui", "type": "inner", **sides, "history": kept},
            },
        }
    )
    world.make_topics(partitions=1)
    with world.start_live():
        # Five users, one second apart: the state keeps the last three (offsets 2, 3, 4).
        for number in range(5):
            world.send([user(number, 1000 * number)])
        each_has_read_the_users(world)
        beyond_the_limit(world)
        what_was_left_out_is_said(world)
    without_a_limit(world)


def each_has_read_the_users(world: Installation) -> None:
    """A pair of another key, sent after them, is in all three tables."""
    world.send([user(5, 5000, "other")])
    world.wait_until(lambda: len(world.table("left_ui")) == 6, PATIENCE)
    world.send([account(6000, "other")])
    world.wait_until(lambda: shown(world, 6)[-1] == "at 6000", PATIENCE)
    world.wait_until(lambda: len(world.table("inner_ui")) == 1, PATIENCE)
    world.wait_until(
        lambda: [row["name"] for row in world.table("asof_ui").values()] == ["name 5"], PATIENCE
    )


def beyond_the_limit(world: Installation) -> None:
    # An account from before the users that are kept finds none of those it should match.
    world.send([account(1500)])
    world.wait_until(lambda: len(world.table("asof_ui")) == 2, PATIENCE)
    assert world.table("asof_ui")["0:1"]["name"] is None
    # Left: only the three users that are kept show the account.
    world.wait_until(
        lambda: shown(world) == [None, None, "at 1500", "at 1500", "at 1500"], PATIENCE
    )
    # Inner: pairs with the three that are kept.
    world.wait_until(lambda: len(world.table("inner_ui")) == 4, PATIENCE)
    assert sorted(world.table("inner_ui")) == ["0:2:0:1", "0:3:0:1", "0:4:0:1", "0:5:0:0"]


def shown(world: Installation, users: int = 5) -> list[object]:
    rows = world.table("left_ui")
    return [rows[f"0:{offset}"]["accountType"] for offset in range(users)]


def what_was_left_out_is_said(world: Installation) -> None:
    """By table and key; the other key has everything, and nobody says otherwise."""
    tables = world.manifest().tables()

    def said() -> dict[str, tuple[str, ...]]:
        gaps = world.manifest().gaps.topics
        return {
            name: gap.keys
            for name, table in tables.items()
            for gap in gaps.get(table.topic, ())
            if gap.reason == "history"
        }

    expected = dict.fromkeys(("asof_ui", "left_ui", "inner_ui"), ("u",))
    world.wait_until(lambda: said() == expected, PATIENCE)


def without_a_limit(world: Installation) -> None:
    """The same topics without the limit are another generation, and exact."""
    joins = world.config["joins"]
    assert isinstance(joins, dict)
    for join in joins.values():
        del join["history"]
    world.file.write_text(yaml.safe_dump(world.config, sort_keys=False))
    with world.start_pipeline() as process:
        process.wait_for_words("Generation 2 is live", PATIENCE)
        world.wait_until_exact(["asof_ui", "left_ui", "inner_ui"])
        assert shown(world) == ["at 1500"] * 5
        assert world.table("asof_ui")["0:1"]["name"] == "name 1"
        assert not world.manifest().gaps.topics.get(world.manifest().tables()["asof_ui"].topic)
