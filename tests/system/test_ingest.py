"""Nothing lost, nothing invented: every message becomes a row or one entry in quarantine."""

from __future__ import annotations

import random
from itertools import islice

from evergrid.testing import oracle
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Send
from tests.support.cases import CASES, EVERY, TIMED
from tests.support.hostile_messages import hostile
from tests.system.conftest import PATIENCE, MakeWorld

SEED = 20_261_116
HOSTILE = 10_000
TIME_MS = 1_767_225_600_000
SOURCES = {
    "every": {"topic": "every", "table": "every_ui", **EVERY},
    "timed": {"topic": "timed", "table": "timed_ui", **TIMED},
    "hostile": {"topic": "hostile", "table": "hostile_ui", **EVERY},
}


def test_any_bytes_in_real_time(make_world: MakeWorld) -> None:
    """All cases and thousands of hostile messages, live, with good ones around each of them."""
    print(f"seed {SEED}")
    world = make_world({"sources": SOURCES, "spark": {"batch": "10m"}})
    world.make_topics(partitions=2)
    with world.start_live() as process:
        before = world.commits()
        world.send(table_of_cases())
        world.wait_until_exact(["every_ui", "timed_ui"])
        entries = world.table("quarantine")
        assert not oracle.differences(
            world.expected("quarantine"), {name: dict(row) for name, row in entries.items()}
        )
        assert world.commits() == before, "it took a committed batch to show them"
        hostile_ones(world)
        process.stop_in_order()
        assert "Traceback" not in process.said()


def table_of_cases() -> list[Send]:
    sends = []
    for number, case in enumerate(CASES):
        topic = "every" if case.section is EVERY else "timed"
        sends.append(Send(topic, number % 2, TIME_MS + number, None, case.value))
        sends.append(good(topic, number))
    return sends


def good(topic: str, number: int) -> Send:
    value = f'{{"id": "good-{number}", "count": {number}, "at": {TIME_MS + number}}}'
    return Send(topic, number % 2, TIME_MS + number, None, value.encode())


def hostile_ones(world: Installation) -> None:
    source = world.spec.sources["hostile"]
    values = islice(hostile(random.Random(SEED), source, world.spec.limits), HOSTILE)
    sends = [
        send
        for number, value in enumerate(values)
        for send in (Send("hostile", number % 2, TIME_MS, None, value), good("hostile", number))
    ]
    world.send(sends)
    # How a reason is worded for bytes with several faults is compared in tests/pipeline;
    # here it counts that each message ended up on the right side, once.
    rows = world.expected("hostile_ui")
    bad = [entry for entry in world.expected("quarantine") if entry.startswith("hostile:")]
    due = len(sends)
    world.wait_until(lambda: len(arrived(world)) == due, PATIENCE)
    assert world.table("hostile_ui").keys() == rows.keys()
    assert set(bad) == set(arrived(world)) - rows.keys()


def arrived(world: Installation) -> list[str]:
    """Ids of all that became of the hostile topic's messages, rows and entries."""
    entries = [entry for entry in world.table("quarantine") if entry.startswith("hostile:")]
    return [*world.table("hostile_ui"), *entries]
