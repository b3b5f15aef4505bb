"""The table of one changelog in memory, with its rate of changes and what it lacks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from evergrid.changelog.manifest import Gap
from evergrid.model.gap import GapReason
from evergrid.store.table_store import TableStore

_RATE_SECONDS = 5.0
_RATE_STEP = 0.5


class ChangeRate:
    """The growth of a counter per second, over the last seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])

    def count(self, total: int) -> None:
        """Record the total so far; call it regularly, also when nothing changed."""
        now = time.monotonic()
        if now - self._samples[-1][0] >= _RATE_STEP or len(self._samples) == 1:
            self._samples.append((now, total))
        else:
            self._samples[-1] = (self._samples[-1][0], total)
        while len(self._samples) > 2 and now - self._samples[0][0] > _RATE_SECONDS:
            self._samples.popleft()

    @property
    def per_second(self) -> float:
        first, last = self._samples[0], self._samples[-1]
        passed = time.monotonic() - first[0]
        return (last[1] - first[1]) / passed if passed > 0 else 0.0


class LoadedTable(msgspec.Struct):
    """The table of one changelog."""

    store: TableStore
    rate: ChangeRate
    changes: int = 0
    newest_message: int = 0
    lag_seconds: float = 0.0
    unreadable: int = 0
    lacks_since: dict[GapReason, int] = {}

    def gaps(self, lost: Mapping[GapReason, int]) -> tuple[Gap, ...]:
        """What this gateway's table lacks; `lost` by Kafka."""
        counts = {
            GapReason.TABLE_MEMORY: self.store.over_memory,
            GapReason.UNREADABLE: self.unreadable,
            **lost,
        }
        now = time.time_ns() // 1000
        self.lacks_since = {
            reason: self.lacks_since.get(reason, now) for reason, count in counts.items() if count
        }
        return tuple(
            Gap(reason.value, counts[reason], (), since)
            for reason, since in self.lacks_since.items()
        )

    def note_times(self, batch: pa.RecordBatch) -> None:
        """Note the newest message: a joined row is as new as the newest of its messages."""
        for name in self.store.table.times:
            newest = pc.max(batch.column(name)).cast(pa.int64()).as_py()
            self.newest_message = max(self.newest_message, newest or 0)
