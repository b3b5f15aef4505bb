"""Limits: messages per second, connections, downloads. Callers pass the time in."""

from __future__ import annotations

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
        self._taken = 0

    @property
    def taken(self) -> int:
        return self._taken

    @property
    def full(self) -> bool:
        return self._taken >= self.most

    def take(self) -> bool:
        """Take a slot; False if all are taken."""
        if self.full:
            return False
        self._taken += 1
        return True

    def release(self) -> None:
        if self._taken == 0:
            raise ValueError("no slot is taken")
        self._taken -= 1


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
        self._counter._log_in(key)
        self.key = key

    def release(self) -> None:
        """Give the slot back; calling it again does nothing."""
        if not self._released:
            self._released = True
            self._counter._release(self.key)


class ConnectionCounter:
    """Counts connections: all of them, those of each key, and those that have not logged in.

    The last have a small limit of their own, and count in the total too.
    """

    def __init__(self, limits: GatewayLimits) -> None:
        self._all = SlotCounter(limits.connections)
        self._anonymous = SlotCounter(limits.strangers)
        self._per_key = limits.connections_per_key
        self._keys: dict[str, SlotCounter] = {}

    @property
    def connections(self) -> int:
        return self._all.taken

    @property
    def anonymous(self) -> int:
        return self._anonymous.taken

    def of_key(self, key: str) -> int:
        return self._keys[key].taken if key in self._keys else 0

    def take(self, key: str | None = None) -> ConnectionSlot:
        """A slot for a new connection; with `key` if its handshake proved one.

        RequestError if a limit is reached.
        """
        if self._all.full:
            raise _too_many(f"this gateway serves {self._all.most} connections, and all are taken")
        if key is not None:
            self._take_of(key)
        elif not self._anonymous.take():
            raise _too_many("too many connections are logging in right now")
        self._all.take()
        return ConnectionSlot(self, key)

    def _log_in(self, key: str) -> None:
        self._take_of(key)
        self._anonymous.release()

    def _take_of(self, key: str) -> None:
        slots = self._keys.get(key) or SlotCounter(self._per_key)
        if not slots.take():
            raise _too_many(f"this key has {self._per_key} connections, as many as it may have")
        self._keys[key] = slots

    def _release(self, key: str | None) -> None:
        self._all.release()
        if key is None:
            self._anonymous.release()
            return
        slots = self._keys[key]
        slots.release()
        if slots.taken == 0:
            del self._keys[key]  # names of removed keys must not pile up


def _too_many(what: str) -> RequestError:
    return RequestError(Code.TOO_MANY_CONNECTIONS, what, remedy="Try again later.")
