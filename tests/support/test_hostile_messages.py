"""Hostile bytes are repeatable, of every kind, and never upset the oracle."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

from evergrid.testing import oracle
from tests.support.cases import EVERY
from tests.support.hostile_messages import hostile

SOURCE = oracle.from_config({"sources": {"s": EVERY}}).sources["s"]
LIMITS = oracle.LimitsSpec(message_bytes=4096, nesting=16)


def values(seed: int, count: int) -> list[bytes | None]:
    return list(islice(hostile(random.Random(seed), SOURCE, LIMITS), count))


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert values(7, 2000) == values(7, 2000)
    assert values(7, 100) != values(8, 100)


def test_every_reason_occurs_and_rows_too() -> None:
    kinds: Counter[str] = Counter()
    for offset, value in enumerate(values(11, 20_000)):
        reading = oracle.read(oracle.Message("s", 0, offset, 5, None, value), SOURCE, LIMITS)
        kinds[_kind(reading)] += 1
    assert kinds.keys() == {
        "a row",
        "tombstone",
        "empty value",
        "too large",
        "not valid UTF-8",
        "not valid JSON",
        "nested deeper than 16 levels",
        "duplicate field name",
        "duplicate field name in a nested object",
        *(f"not a JSON object but {what}" for what in ("an array", "a text", "a number")),
        *("not a JSON object but a boolean", "not a JSON object but null"),
        "is not",
        "is out of range",
        "does not fit",
    }
    assert kinds["a row"] > 1000
    assert kinds["is not"] > 1000


def _kind(reading: oracle.Row | oracle.Bad) -> str:
    if isinstance(reading, oracle.Row):
        return "a row"
    for kind in ("' is not ", "' is out of range", "' does not fit"):
        if kind in reading.reason:
            return kind.strip("' ")
    return reading.reason.split(":")[0]
