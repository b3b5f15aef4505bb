"""What a long test needs: a seed, the figures that it must reach, and a record of what it did.

`make soak` gives pytest the options; without them there is seed 0, full figures and no record.

def test_kills(soak: Soak) -> None:
    rng = random.Random(soak.seed)
    for _ in range(soak.figure(100)):       # --scale 0.05 makes five of them
        kill()
        soak.count(Counted.KILLS)           # when it is done, so that nothing planned is counted
"""

from __future__ import annotations

import enum
import json
from collections import Counter
from pathlib import Path

import msgspec


class Counted(enum.Enum):
    """What long runs count, in the order of the table."""

    KILLS = "kills"
    NETWORK_FAULTS = "network faults"
    BAD_INPUTS = "bad inputs"
    HOSTILE_FRAMES = "hostile frames"
    RANDOM_SEQUENCES = "random sequences"
    VIEWERS = "viewers"
    SLOW_READERS = "slow readers"
    SWAPS = "swaps"
    DAMAGED_CHECKPOINTS = "damaged checkpoints"
    MESSAGES = "messages"
    ROWS = "rows compared"
    TESTS = "tests passed"


class Soak(msgspec.Struct, frozen=True):
    """`scale` makes all figures smaller, to try a test; `record` is a file of JSON lines."""

    seed: int = 0
    scale: float = 1.0
    record: Path | None = None

    def figure(self, full: int, least: int = 1) -> int:
        """How many of something there shall be, where `full` is what is promised."""
        return max(least, round(full * self.scale))

    def count(self, what: Counted, number: int = 1) -> None:
        """Add to the record what was just done."""
        if self.record is not None:
            with self.record.open("a") as file:
                file.write(json.dumps({what.value: number}) + "\n")


NO_RECORD = Soak()  # for what the tests of every day share with long ones


def recorded(record: Path) -> dict[str, int]:
    """The sums of a record, in the table's order; a line being written is left out."""
    sums: Counter[str] = Counter()
    if record.exists():
        for line in record.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                sums.update(json.loads(line))
    return {what.value: sums[what.value] for what in Counted if sums[what.value]}
