"""How a table is doing: its rows, how fast they come, and how long they took to get here."""

from __future__ import annotations

import statistics
from collections import deque

from evergrid.changelog.codec import Row
from evergrid.changelog.recent import RecentIds
from evergrid.demo.arrivals import Arrival
from evergrid.demo.view import TableView
from evergrid.model.table import Role, Table
from evergrid.model.types import Kind

WINDOW_SECONDS = 5.0
_MOST_DELAYS = 5_000


class Meter:
    """Counts one table's changes in bounded memory; times are in seconds since the epoch."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._times = [
            column.name
            for column in table.columns
            if column.role is not Role.DATA and column.type.kind is Kind.TIMESTAMP
        ]
        self._recent = RecentIds()
        self._rows = 0
        self._newest = 0.0
        self._delays: deque[tuple[float, float]] = deque(maxlen=_MOST_DELAYS)
        self._seconds: deque[tuple[int, int]] = deque(maxlen=int(WINDOW_SECONDS) + 1)

    def count(self, arrival: Arrival, now: float) -> None:
        change = arrival.change
        if change.row is None:
            self._rows -= self._recent.forget(change.row_id)
            return
        self._rows += self._recent.is_new(change.row_id)
        made = self._made(change.row)
        self._newest = max(self._newest, made)
        if arrival.live:
            self._delays.append((now, now - made))
            self._tick(int(now))

    def view(self, now: float) -> TableView:
        delays = [delay for at, delay in self._delays if at >= now - WINDOW_SECONDS]
        return TableView(
            name=self._table.name,
            rows=min(self._rows, self._table.retention.rows or self._rows),
            per_second=self._rate(now),
            delay_ms=1000 * statistics.median(delays) if delays else None,
            age_seconds=max(0.0, now - self._newest) if self._newest else None,
        )

    def _made(self, row: Row) -> float:
        """When the newest message that the row was made from was sent."""
        times = [row.get(name) for name in self._times]
        return max((int(at) for at in times if at is not None), default=0) / 1_000_000

    def _tick(self, second: int) -> None:
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1] = (second, self._seconds[-1][1] + 1)
        else:
            self._seconds.append((second, 1))

    def _rate(self, now: float) -> float:
        """Over the last whole seconds: the one that is not over yet would pull it down."""
        whole = [n for second, n in self._seconds if now - WINDOW_SECONDS - 1 < second < int(now)]
        return sum(whole) / WINDOW_SECONDS
