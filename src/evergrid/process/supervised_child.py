"""A child process that is started again, with backoff, whenever it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import msgspec

from evergrid.process.backoff import Backoff
from evergrid.process.child_process import ChildProcess

_FIRST_WAIT_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 30.0
_STEADY_SECONDS = 60.0  # after this long it counts as one that can run


class Ended(msgspec.Struct, frozen=True):
    """The exit code of a child process, and the seconds until it is started again."""

    code: int
    wait: float


class SupervisedChild:
    """Runs what `start` starts until stopped; call `check` again and again meanwhile."""

    def __init__(self, start: Callable[[], ChildProcess], stop_seconds: float) -> None:
        self._start = start
        self._stop_seconds = stop_seconds
        self._process: ChildProcess | None = None
        self._backoff = Backoff(_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
        self._started_at = 0.0
        self.was_steady = False  # whether any of its runs was long

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        self._process = self._start()
        self._started_at = time.monotonic()

    def check(self) -> Ended | None:
        """How it ended, if it has just done so; start it again when the wait is over."""
        if self._process is None:
            if self._backoff.is_due():
                self.start()
            return None
        is_steady = time.monotonic() - self._started_at > _STEADY_SECONDS
        self.was_steady = self.was_steady or is_steady
        code = self._process.poll()
        if code is None:
            return None
        self.stop()
        if is_steady:
            self._backoff.reset()
        return Ended(code, self._backoff.failed())

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
