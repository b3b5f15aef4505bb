"""Counts what the gateway refuses by reason, and logs each reason at most once a minute."""

from __future__ import annotations

import time
from collections.abc import Callable

from evergrid.gateway.access.traffic_counters import TrafficCounters

LOG_SECONDS = 60.0


class Refusals:
    """An attack must not fill the log: further refusals of a minute are only counted."""

    def __init__(self, counters: TrafficCounters, log: Callable[[str], None]) -> None:
        self._counters = counters
        self._log = log
        self._logged: dict[str, tuple[float, int]] = {}  # time of the last line, count then

    def add(self, reason: str, sentence: str, address: str) -> None:
        """`sentence` says what was refused; `address` is the client's."""
        self._counters.refused[reason] += 1
        count, now = self._counters.refused[reason], time.monotonic()
        logged, before = self._logged.get(reason, (-LOG_SECONDS, 0))
        if now - logged < LOG_SECONDS:
            return
        self._logged[reason] = now, count
        more = f" ({count - before} since the last such line)" if before else ""
        self._log(f"{sentence}; client {address or 'unknown'}{more}. /metrics counts {reason}.")
