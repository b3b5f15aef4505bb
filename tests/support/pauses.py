"""Measures how long the machine stood still during a test."""

from __future__ import annotations

import threading
import time
from typing import Self

_LOOK_SECONDS = 0.1


class Pauses:
    """Checks the clock continuously; `longest` is the longest pause, in seconds."""

    def __init__(self) -> None:
        self._longest = 0.0
        self._looked = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go, name="pauses")

    @property
    def longest(self) -> float:
        return max(self._longest, time.monotonic() - self._looked - _LOOK_SECONDS)

    def __enter__(self) -> Self:
        self._looked = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _go(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            self._longest, self._looked = self.longest, time.monotonic()
