"""What is still to be said to the gateway, and how fast it may be said. No I/O."""

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

# Below a gateway's usual bound (50 a second, 100 at once), which ends the connection.
RATE = 40.0
BURST = 80.0


class Outbox:
    """Messages in order, at most one of a kind for each window: only the last move counts."""

    def __init__(self) -> None:
        self._messages: dict[tuple[type[ClientMessage], int | None], ClientMessage] = {}

    def put(self, message: ClientMessage) -> None:
        sub = None if isinstance(message, Hello | Heart) else message.sub
        if isinstance(message, Close) and self._withdraw(message.sub):
            return
        self._messages[type(message), sub] = message

    def _withdraw(self, sub: int) -> bool:
        """Drop what is unsaid about a window; True when not even its opening was said."""
        self._messages.pop((Move, sub), None)
        return self._messages.pop((Open, sub), None) is not None

    def take(self) -> str | None:
        """The next message; hearts first, because a gateway waits for them."""
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


class Pace:
    """So many messages a second, after some at once."""

    def __init__(self, rate: float = RATE, burst: float = BURST) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._at = 0.0

    def wait(self, now: float) -> float:
        """Seconds to wait before the next message, which is counted as sent then."""
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        self._left -= 1
        return max(0.0, -self._left / self._rate)
