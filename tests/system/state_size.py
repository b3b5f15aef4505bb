"""State is bounded by retention: what is older than a table's rows is not kept on disk either."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Send
from tests.support.traffic import Stream, Traffic
from tests.system.conftest import two_sources
from tests.system.steady import Steady

SEED = 20_261_215
LOOK_SECONDS = 2.5
# State that grows for ever is 2.5 times as large at the end as at the first look.
FIRST_LOOK = 0.4
MOST_GROWTH = 1.6


def config(name: str, age: str) -> dict[str, object]:
    sides = {"left": "users", "right": "accounts"}
    return {
        "sources": two_sources(name),
        "joins": {
            "asof": {"table": "asof_ui", "type": "asof", **sides},
            "left": {"table": "left_ui", "type": "left", **sides},
        },
        "retention": {"default": {"rows": 1_000_000, "age": age}},
        "spark": {"batch": "5s"},
    }


def stops_growing(world: Installation, seconds: float, lot: int) -> None:
    """Ten times what retention keeps, and checkpoints of about the size they had before."""
    print(f"seed {SEED}")
    world.make_topics(partitions=2)
    messages = now_and_then(world)
    sizes: list[tuple[float, int]] = []
    with (
        world.start_live(),
        Steady(lambda: world.send(itertools.islice(messages, lot))).going(),
    ):
        began = time.monotonic()
        while (passed := time.monotonic() - began) < seconds:
            sizes.append((passed, size_of(world.data_dir / "generations")))
            time.sleep(LOOK_SECONDS)
    print("seconds and KB:", ", ".join(f"{at:.0f}: {size // 1024}" for at, size in sizes))
    early = max(size for at, size in sizes if at <= seconds * FIRST_LOOK)
    late = sizes[-1][1]
    print(f"{len(world.messages)} messages; {late / early:.2f} times as large at the end")
    assert late <= MOST_GROWTH * early


def now_and_then(world: Installation) -> Iterator[Send]:
    """Messages of this moment: every other one of a hot key, the rest of keys that hardly come
    again, which only their expiry can remove."""
    users, accounts = world.spec.sources["users"], world.spec.sources["accounts"]
    hot = Stream(Traffic(SEED, keys=5, left_share=0.5), users, accounts)
    rare = Stream(Traffic(SEED, keys=1_000_000, prefix="rare", left_share=0.5), users, accounts)
    for number in itertools.count():
        for stream in (hot, rare):
            yield replace(stream.send(number), timestamp_ms=int(time.time() * 1000))


def size_of(folder: Path) -> int:
    """Bytes of all files; those that go while we look count for nothing."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(path) / name).stat().st_size
            except FileNotFoundError:
                continue
    return total
