"""Limits the bytes that are being sent to clients: those of one key, and those of all."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator

from evergrid.config.settings import GatewayLimits

SMALL_BYTES = 64 * 1024  # of a frame that need not wait: sockets buffer as much


class SendingBytes:
    """Who finds no room waits, before anything is built for it, until others have read."""

    def __init__(self, limits: GatewayLimits) -> None:
        self._of_key = limits.bytes_per_key
        self._of_all = limits.total_bytes
        self._keys: Counter[str] = Counter()
        self.total = 0
        self._waiting: dict[Callable[[], None], None] = {}

    def is_full(self, key: str) -> bool:
        return self.total >= self._of_all or self._keys[key] >= self._of_key

    def call_when_free(self, call: Callable[[], None]) -> None:
        """Call it once, when something has been read."""
        self._waiting[call] = None

    @contextlib.contextmanager
    def sending(self, key: str, size: int) -> Iterator[None]:
        """Count these bytes as long as they are being sent."""
        self._keys[key] += size
        self.total += size
        try:
            yield
        finally:
            self.total -= size
            self._keys[key] -= size
            if not self._keys[key]:
                del self._keys[key]
            waiting, self._waiting = self._waiting, {}
            for call in waiting:
                call()
