"""Messages that wait to be sent to the gateway, and their rate limit. No I/O."""

from __future__ import annotations

from evergrid.protocol.messages import (
    ClientMessage,
    Close,
    Heart,
    Hello,
    Move,
    Open,
    encode,
)

# Below a gateway's default limit (50 a second, 100 at once), beyond which it disconnects.
RATE = 40.0
BURST = 80.0


class SendQueue:
    """Messages in order, at most one of each kind per window: a later move replaces an earlier."""

    def __init__(self) -> None:
        self._messages: dict[tuple[type[ClientMessage], int | None], ClientMessage] = {}

    def put(self, message: ClientMessage) -> None:
        sub = None if isinstance(message, Hello | Heart) else message.sub
        if isinstance(message, Close) and self._withdraw(message.sub):
            return
        self._messages[type(message), sub] = message

    def _withdraw(self, sub: int) -> bool:
        """Drop the unsent messages of a window; True if its `open` was one of them."""
        self._messages.pop((Move, sub), None)
        return self._messages.pop((Open, sub), None) is not None

    def take(self) -> str | None:
        """The next message; heartbeats first, because a gateway waits for them."""
        heart = self._messages.pop((Heart, None), None)
        if heart is not None:
            return encode(heart)
        for key in self._messages:
            return encode(self._messages.pop(key))
        return None

    def clear(self) -> None:
        self._messages.clear()

    def __len__(self) -> int:
        return len(self._messages)


class RateLimiter:
    """A token bucket: `rate` messages a second, and `burst` at once after a pause."""

    def __init__(self, rate: float = RATE, burst: float = BURST) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._at = 0.0

    def wait(self, now: float) -> float:
        """Seconds to wait before the next message, which counts as sent then."""
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        self._left -= 1
        return max(0.0, -self._left / self._rate)
