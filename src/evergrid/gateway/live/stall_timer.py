"""How long a reader may take: slow is allowed, standing still is not. No clock of its own."""

from __future__ import annotations

STALL_SECONDS = 10.0
# Within TLS one cannot see how much of a frame has gone out, only when all of it has.
TLS_STALL_SECONDS = 30.0


class Patience:
    """Watches how many bytes wait for one reader."""

    def __init__(self, seconds: float, now: float) -> None:
        self._seconds = seconds
        self._waiting = 0
        self._since = now

    def look(self, waiting: int, now: float) -> bool:
        """Whether the reader moves: took something since the last look, or has taken all."""
        moves = waiting < self._waiting or waiting == 0
        if moves or self._waiting == 0:
            self._since = now
        self._waiting = waiting
        return moves

    def over(self, now: float) -> bool:
        """Whether nothing at all has moved for too long."""
        return self._waiting > 0 and now - self._since > self._seconds
