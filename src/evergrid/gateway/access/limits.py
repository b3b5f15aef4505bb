"""How much may come in: messages per second, connections, downloads. No clock of its own."""

from __future__ import annotations

from evergrid.config.settings import GatewayLimits
from evergrid.protocol.codes import Code

BURST_SECONDS = 2.0  # a screen that opens all its windows at once is no attack


class Bucket:
    """Lets `per_second` messages through on average, and twice as many at once after a pause."""

    def __init__(self, per_second: float, now: float) -> None:
        self._rate = per_second
        self._most = per_second * BURST_SECONDS
        self._left = self._most
        self._then = now

    def take(self, now: float) -> bool:
        """Whether one more message may come at the time `now`, in seconds of any steady clock."""
        self._fill(now)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

    def is_full(self, now: float) -> bool:
        """Whether it is as if nothing had ever come."""
        self._fill(now)
        return self._left >= self._most

    def _fill(self, now: float) -> None:
        # A clock that steps back gives nothing and takes nothing.
        passed = max(0.0, now - self._then)
        self._then = max(self._then, now)
        self._left = min(self._most, self._left + passed * self._rate)


class Buckets:
    """A bucket for each name; one that is full again is forgotten, for names come and go."""

    def __init__(self, per_second: float) -> None:
        self._rate = per_second
        self._buckets: dict[str, Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, name: str, now: float) -> bool:
        """Whether one more of `name` may come at the time `now`."""
        if name not in self._buckets:
            self._buckets = {n: b for n, b in self._buckets.items() if not b.is_full(now)}
            self._buckets[name] = Bucket(self._rate, now)
        return self._buckets[name].take(now)


class Counter:
    """A number of places; who took one gives it back."""

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
        """Whether there was a place; it is taken then."""
        if self.full:
            return False
        self._taken += 1
        return True

    def give_back(self) -> None:
        if self._taken == 0:
            raise ValueError("nobody has a place to give back")
        self._taken -= 1


class Visit:
    """One connection's place; from a stranger's to a key's when it logs in."""

    def __init__(self, turnstile: Turnstile, key: str | None) -> None:
        self._turnstile = turnstile
        self._gone = False
        self.key = key

    def admit(self, key: str) -> tuple[Code, str] | None:
        """Count it as one of `key` from now on; when refused, it stays what it was."""
        if self._gone or self.key is not None:
            raise ValueError("only a stranger who is still here can be admitted")
        refusal = self._turnstile._admit(key)
        if refusal is None:
            self.key = key
        return refusal

    def leave(self) -> None:
        """Give the place back; a second time changes nothing, so that every end may call it."""
        if not self._gone:
            self._gone = True
            self._turnstile._leave(self.key)


class Turnstile:
    """Counts connections: all of them, those of each key, and strangers.

    Strangers have few places of their own, and count in the total too.
    """

    def __init__(self, limits: GatewayLimits) -> None:
        self._all = Counter(limits.connections)
        self._strangers = Counter(limits.strangers)
        self._per_key = limits.connections_per_key
        self._keys: dict[str, Counter] = {}

    @property
    def connections(self) -> int:
        return self._all.taken

    @property
    def strangers(self) -> int:
        return self._strangers.taken

    def of_key(self, key: str) -> int:
        return self._keys[key].taken if key in self._keys else 0

    def enter(self, key: str | None = None) -> Visit | tuple[Code, str]:
        """A place for a new connection; with `key` when it has proved one in its handshake."""
        if self._all.full:
            return _refusal(f"this gateway serves {self._all.most} connections, and all are taken")
        if key is None:
            if not self._strangers.take():
                return _refusal("too many connections are logging in right now")
        elif refusal := self._take_of(key):
            return refusal
        self._all.take()
        return Visit(self, key)

    def _admit(self, key: str) -> tuple[Code, str] | None:
        refusal = self._take_of(key)
        if refusal is None:
            self._strangers.give_back()
        return refusal

    def _take_of(self, key: str) -> tuple[Code, str] | None:
        counter = self._keys.get(key) or Counter(self._per_key)
        if not counter.take():
            return _refusal(f"this key has {self._per_key} connections, as many as it may have")
        self._keys[key] = counter
        return None

    def _leave(self, key: str | None) -> None:
        self._all.give_back()
        if key is None:
            self._strangers.give_back()
            return
        counter = self._keys[key]
        counter.give_back()
        if counter.taken == 0:
            del self._keys[key]  # names of keys long gone must not pile up


def _refusal(what: str) -> tuple[Code, str]:
    return Code.TOO_MANY_CONNECTIONS, f"{what}. Try again later."
