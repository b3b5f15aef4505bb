"""Restarts of a child process: soon after it ended, and later each time if it ends again soon."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from evergrid.kafka.leash import Leashed

_LONGEST_WAIT_SECONDS = 30.0
_CALM_SECONDS = 60.0  # what ran this long starts again with the shortest wait


class Restarts:
    """The waits of one process: a second after its first fall, then twice as long each time."""

    def __init__(self) -> None:
        self._started = 0.0
        self._wait = 0.0
        self._due = 0.0

    def started(self) -> None:
        self._started = time.monotonic()

    def is_calm(self) -> bool:
        """Whether it has run long enough to count as one that can run."""
        return time.monotonic() - self._started > _CALM_SECONDS

    def is_due(self) -> bool:
        """Whether the wait after the last fall is over."""
        return time.monotonic() >= self._due

    def fell(self) -> float:
        """Seconds to wait from now on."""
        first = self.is_calm() or not self._wait
        self._wait = 1.0 if first else min(_LONGEST_WAIT_SECONDS, 2 * self._wait)
        self._due = time.monotonic() + self._wait
        return self._wait


class Ended(msgspec.Struct, frozen=True):
    """How a supervised process ended, and the seconds until it is started again.

    `was_stable`: it, or an earlier run of it, ran for long enough to count as one that can run.
    """

    code: int
    restart_in: float
    was_stable: bool


class SupervisedProcess:
    """A child process that is started again when it ends; `launch` starts it."""

    def __init__(self, launch: Callable[[], Leashed]) -> None:
        self._launch = launch
        self._process: Leashed | None = None
        self._restarts = Restarts()
        self._was_stable = False

    def start(self) -> None:
        self._process = self._launch()
        self._restarts.started()

    def poll(self) -> Ended | None:
        """How it ended, once after each end; starts it again when that is due."""
        if self._process is None:
            if self._restarts.is_due():
                self.start()
            return None
        self._was_stable = self._was_stable or self._restarts.is_calm()
        code = self._process.poll()
        if code is None:
            return None
        self._process.stop(0.0)
        self._process = None
        return Ended(code, self._restarts.fell(), self._was_stable)

    def ask_to_end(self, seconds: float) -> None:
        if self._process is not None:
            self._process.ask_to_end(seconds)

    def stop(self, seconds: float) -> None:
        if self._process is not None:
            self._process.stop(seconds)
            self._process = None
