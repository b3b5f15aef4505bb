"""Limits: messages per second, connections, downloads. Callers pass the time in."""

from __future__ import annotations

from collections import Counter

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.request_error import RequestError
from evergrid.protocol.error_codes import Code

BURST_SECONDS = 2.0  # a page that opens all its windows at once is no attack


class TokenBucket:
    """Allows `per_second` messages on average, and after a pause twice as many at once."""

    def __init__(self, per_second: float, now: float) -> None:
        self._rate = per_second
        self._capacity = per_second * BURST_SECONDS
        self._tokens = self._capacity
        self._updated = now

    def take(self, now: float) -> bool:
        """Whether one more message is allowed at `now`, in seconds of a monotonic clock."""
        self._refill(now)
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

    def is_full(self, now: float) -> bool:
        self._refill(now)
        return self._tokens >= self._capacity

    def _refill(self, now: float) -> None:
        # A clock that goes back neither adds nor removes tokens.
        passed = max(0.0, now - self._updated)
        self._updated = max(self._updated, now)
        self._tokens = min(self._capacity, self._tokens + passed * self._rate)


class TokenBuckets:
    """A token bucket per name; full ones are dropped, so that old names do not pile up."""

    def __init__(self, per_second: float) -> None:
        self._rate = per_second
        self._buckets: dict[str, TokenBucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, name: str, now: float) -> bool:
        """Whether one more message of `name` is allowed at `now`."""
        if name not in self._buckets:
            self._buckets = {n: b for n, b in self._buckets.items() if not b.is_full(now)}
            self._buckets[name] = TokenBucket(self._rate, now)
        return self._buckets[name].take(now)


class SlotCounter:
    """A limited number of slots."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0

    @property
    def full(self) -> bool:
        return self.taken >= self.most

    def take(self) -> bool:
        """Take a slot; False if all are taken."""
        if self.full:
            return False
        self.taken += 1
        return True

    def release(self) -> None:
        if self.taken == 0:
            raise ValueError("no slot is taken")
        self.taken -= 1


class ConnectionSlot:
    """The slot of one connection; `key` is the name of its access key once it has logged in."""

    def __init__(self, counter: ConnectionCounter, key: str | None) -> None:
        self._counter = counter
        self._released = False
        self.key = key

    def log_in(self, key: str) -> None:
        """Count the connection for `key` from now on; RequestError if that key has too many."""
        if self._released or self.key is not None:
            raise ValueError("only an open connection without a key can log in")
        self._counter.add(key)
        self._counter.remove(None)
        self.key = key

    def release(self) -> None:
        """Give the slot back; calling it again does nothing."""
        if not self._released:
            self._released = True
            self._counter.remove(self.key)


class ConnectionCounter:
    """Counts connections by key; those that have not logged in have None, and a small limit."""

    def __init__(self, limits: GatewayLimits) -> None:
        self._limits = limits
        self._keys: Counter[str | None] = Counter()

    @property
    def connections(self) -> int:
        return self._keys.total()

    def of_key(self, key: str | None) -> int:
        return self._keys[key]

    def take(self, key: str | None = None) -> ConnectionSlot:
        """A slot for a new connection; with `key` if its handshake proved one.

        RequestError if a limit is reached.
        """
        most = self._limits.connections
        if self.connections >= most:
            raise _too_many(f"this gateway serves {most} connections, and all are taken")
        self.add(key)
        return ConnectionSlot(self, key)

    def add(self, key: str | None) -> None:
        most = self._limits.strangers if key is None else self._limits.connections_per_key
        if self._keys[key] >= most:
            if key is None:
                raise _too_many("too many connections are logging in right now")
            raise _too_many(f"this key has {most} connections, as many as it may have")
        self._keys[key] += 1

    def remove(self, key: str | None) -> None:
        self._keys[key] -= 1
        if not self._keys[key]:
            del self._keys[key]  # names of removed keys must not pile up


def _too_many(what: str) -> RequestError:
    return RequestError(Code.TOO_MANY_CONNECTIONS, what, remedy="Try again later.")
