"""Notices clients that have stopped reading; slow ones are allowed. Callers pass the time in."""

from __future__ import annotations

STALL_SECONDS = 10.0
# With TLS the progress within a frame is not visible, only that all of it was sent.
TLS_STALL_SECONDS = 30.0


class StallTimer:
    """Watches the number of bytes that wait to be sent to one client."""

    def __init__(self, seconds: float, now: float) -> None:
        self._seconds = seconds
        self._waiting = 0
        self._since = now

    def update(self, waiting: int, now: float) -> bool:
        """Whether the client reads: it took some bytes since the last call, or has taken all."""
        reads = waiting < self._waiting or waiting == 0
        if reads or self._waiting == 0:
            self._since = now
        self._waiting = waiting
        return reads

    def is_stalled(self, now: float) -> bool:
        """Whether the client has read nothing for too long."""
        return self._waiting > 0 and now - self._since > self._seconds
