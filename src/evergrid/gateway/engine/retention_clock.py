"""The clock by which rows expire: a jump of the machine's clock must not empty the tables."""

from __future__ import annotations

import time

_FASTEST = 2  # times as fast as the time that passes
_JUMP = 60_000_000  # microseconds; less is not worth a line in the log


class RetentionClock:
    """The machine's clock, with two bounds. Times in microseconds since the epoch.

    1. It is never ahead of the pipeline's clock, as far as that is known.
    2. After a jump forward it catches up at twice the speed of time. So a clock that is wrong for
       some minutes costs rows of the next minutes at most, and one that was set right is followed.
    """

    def __init__(self) -> None:
        self._wall = _wall()
        self._read_at = time.monotonic()
        self._is_behind = False
        self.log_lines: list[str] = []

    def now(self, of_pipeline: int | None) -> int:
        wall, read_at = _wall(), time.monotonic()
        fastest = self._wall + int((read_at - self._read_at) * _FASTEST * 1e6)
        self._wall, self._read_at = min(wall, fastest), read_at
        behind = wall - self._wall
        if behind > _JUMP and not self._is_behind:
            self.log_lines.append(
                f"The clock of this machine jumped forward by {behind // 1_000_000:,} s. So that "
                "no rows are lost, retention by age follows slowly; to follow at once, restart."
            )
        self._is_behind = behind > 0 if self._is_behind else behind > _JUMP
        return self._wall if of_pipeline is None else min(self._wall, of_pipeline)


def _wall() -> int:
    return time.time_ns() // 1000
