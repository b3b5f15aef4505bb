"""Random cases are repeatable, stay in their bounds and hold every difficulty."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from evergrid.testing import oracle
from evergrid.testing.oracle import JoinType, Message
from evergrid.testing.random_cases import Script, Send, bad_values, delivered, random_case

SPEC = oracle.from_config(
    {
        "sources": {
            "users": {
                "key": "userId",
                "fields": {"userId": "text", "name": "text", "age": "integer"},
            },
            "accounts": {
                "key": "userId",
                "fields": {"userId": "text", "kind": "text", "balance": "decimal(18,2)"},
            },
        },
        "joins": {"final": {"left": "users", "right": "accounts"}},
    }
)
TIMED = oracle.from_config(
    {
        "sources": {
            name: {
                "key": "k",
                "time": "at",
                "fields": {
                    "k": "text",
                    "at": f"timestamp({unit})",
                    "flag": "boolean",
                    "x": "float",
                },
            }
            for name, unit in (("users", "s"), ("accounts", "ns"))
        },
        "joins": {"final": {"left": "users", "right": "accounts"}},
    }
)
JOIN = SPEC.joins["final"]


def case(seed: int, script: Script | None = None, spec: oracle.Spec = SPEC) -> list[Send]:
    join = spec.joins["final"]
    return random_case(random.Random(seed), join, spec.sources, f"c{seed}-", script)


def rows(messages: list[Message], source: str, spec: oracle.Spec = SPEC) -> list[oracle.Row]:
    readings = [
        oracle.read(message, spec.sources[source], spec.limits)
        for message in messages
        if message.topic == source
    ]
    return [reading for reading in readings if isinstance(reading, oracle.Row)]


def test_the_same_seed_gives_the_same_case() -> None:
    assert [case(seed) for seed in range(50)] == [case(seed) for seed in range(50)]
    assert case(1) != case(2)


def test_delivery_counts_offsets_by_topic_and_partition_and_goes_on() -> None:
    sends = [Send("t", n % 2, 5, None, b"") for n in range(4)] + [Send("u", 0, 5, None, None)]
    next_offsets: dict[tuple[str, int], int] = {("t", 1): 10}
    places = [(m.topic, m.partition, m.offset) for m in delivered(sends, next_offsets)]
    assert places == [("t", 0, 0), ("t", 1, 10), ("t", 0, 1), ("t", 1, 11), ("u", 0, 0)]
    assert next_offsets == {("t", 0): 2, ("t", 1): 12, ("u", 0): 1}


@pytest.mark.parametrize("spec", [SPEC, TIMED], ids=["kafka time", "field time"])
def test_history_stays_within_its_bounds(spec: oracle.Spec) -> None:
    script = Script(left_history=3, right_history=2, most_messages=60, most_keys=2)
    fullest: Counter[str] = Counter()
    for seed in range(200):
        sends = case(seed, script, spec)
        assert 1 <= len(sends) <= 60
        for source in ("users", "accounts"):
            key_field = spec.sources[source].key
            keys = [row.values[key_field] for row in rows(delivered(sends), source, spec)]
            per_key = Counter(key for key in keys if key is not None)
            fullest[source] = max(fullest[source], *per_key.values(), 0)
    assert fullest == {"users": 3, "accounts": 2}


def test_keys_belong_to_the_case_alone() -> None:
    for seed in range(100):
        for source in ("users", "accounts"):
            for row in rows(delivered(case(seed)), source):
                key = row.values["userId"]
                assert key is None or str(key).startswith(f"c{seed}-")


def test_cases_hold_every_difficulty() -> None:
    seen: Counter[str] = Counter()
    for seed in range(300):
        seen.update(_difficulties(delivered(case(seed))))
    assert {name for name, count in seen.items() if count >= 30} == {
        "bad message",
        "duplicate content",
        "late user",
        "missing field",
        "missing key",
        "null key",
        "other Kafka key",
        "several partitions",
        "tie",
        "unknown user",
        "user after account",
    }


def _difficulties(messages: list[Message]) -> set[str]:
    """Which difficulties one case holds, told from its messages alone."""
    users, accounts = rows(messages, "users"), rows(messages, "accounts")
    arrival = {(m.topic, m.partition, m.offset): n for n, m in enumerate(messages)}
    found = set()
    for user in users:
        for account in accounts:
            if user.values["userId"] is None or user.values["userId"] != account.values["userId"]:
                continue
            after = _place(user, arrival) > _place(account, arrival)
            found |= {"user after account"} if after else set()
            found |= {"late user"} if after and user.ts <= account.ts else set()
            found |= {"tie"} if user.ts == account.ts else set()
    known = {user.values["userId"] for user in users}
    for row in (*users, *accounts):
        value = json.loads(row.message.value or b"")
        if "userId" not in value:
            found.add("missing key")
        elif value["userId"] is None:
            found.add("null key")
        elif row.message.key != value["userId"].encode():
            found.add("other Kafka key")
        found |= {"missing field"} if len(value) < 2 + ("userId" in value) else set()
    found |= {"unknown user"} if any(a.values["userId"] not in known for a in accounts) else set()
    contents = Counter((m.topic, m.key, m.value) for m in messages if m.value)
    found |= {"duplicate content"} if max(contents.values(), default=0) > 1 else set()
    found |= {"bad message"} if len(users) + len(accounts) < len(messages) else set()
    found |= {"several partitions"} if len({m.partition for m in messages}) > 1 else set()
    return found


def _place(row: oracle.Row, arrival: dict[tuple[str, int, int], int]) -> int:
    return arrival[row.message.topic, row.message.partition, row.message.offset]


def test_bad_values_are_all_refused() -> None:
    for source in (*SPEC.sources.values(), *TIMED.sources.values()):
        messages = delivered(Send(source.topic, 0, 5, None, value) for value in bad_values(source))
        assert oracle.raw(messages, source) == {}


def test_joins_of_random_cases_keep_their_row_counts() -> None:
    for seed in range(100):
        messages = delivered(case(seed))
        left = oracle.join(messages, replace(JOIN, type=JoinType.LEFT), SPEC.sources)
        asof = oracle.join(messages, replace(JOIN, type=JoinType.ASOF), SPEC.sources)
        assert left.keys() == oracle.raw(messages, SPEC.sources["users"]).keys()
        assert asof.keys() == oracle.raw(messages, SPEC.sources["accounts"]).keys()
