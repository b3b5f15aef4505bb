"""Restarts of a child process: soon after it ended, and later each time if it ends again soon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

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
    """The exit code of a child process, and the seconds until it is started again."""

    code: int
    wait: float


class SupervisedChild:
    """Runs what `start` starts until stopped; call `check` again and again meanwhile."""

    def __init__(self, start: Callable[[], Leashed], stop_seconds: float) -> None:
        self._start = start
        self._stop_seconds = stop_seconds
        self._process: Leashed | None = None
        self._restarts = Restarts()
        self.was_steady = False  # whether any of its runs was long

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        self._process = self._start()
        self._restarts.started()

    def check(self) -> Ended | None:
        """How it ended, if it has just done so; start it again when the wait is over."""
        if self._process is None:
            if self._restarts.is_due():
                self.start()
            return None
        self.was_steady = self.was_steady or self._restarts.is_calm()
        code = self._process.poll()
        if code is None:
            return None
        self.stop()
        return Ended(code, self._restarts.fell())

    def ask_to_end(self) -> None:
        if self._process is not None:
            self._process.ask_to_end(self._stop_seconds)

    def stop(self) -> None:
        """Ask it to end and wait for that; it is not started again."""
        if self._process is not None:
            self._process.stop(self._stop_seconds)
            self._process = None


def stop_all(children: Iterable[SupervisedChild]) -> None:
    """Stop all of them side by side."""
    stopping = list(children)
    for child in stopping:
        child.ask_to_end()
    for child in stopping:
        child.stop()
