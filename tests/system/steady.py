"""Messages that go on coming while a test does something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PACE_SECONDS = 0.2


class Steady:
    """Calls `send` at a steady pace; what it raises is the test's problem, and fails it."""

    def __init__(self, send: Callable[[], None]) -> None:
        self._send = send
        self._over = threading.Event()
        self.problem: BaseException | None = None

    @contextmanager
    def going(self) -> Iterator[None]:
        thread = threading.Thread(target=self._go)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            self._over.clear()
        assert self.problem is None, f"the producer failed: {self.problem}"

    def _go(self) -> None:
        try:
            while not self._over.wait(_PACE_SECONDS):
                self._send()
        except BaseException as error:
            self.problem = error
