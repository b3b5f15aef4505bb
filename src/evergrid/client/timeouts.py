"""Timeouts of the client, and its backoff."""

from __future__ import annotations

import random

import msgspec


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """Timeouts in seconds.

    connect      to connect, and for the gateway's first message on the connection
    answer       for the next bytes of an HTTP answer; the first may need a view of millions of rows
    silence      without a message before the connection counts as lost; the gateway sends a
                 heartbeat every few seconds
    first_wait   before the second attempt to connect; each further wait is about twice as long
    longest_wait between two attempts, at most
    give_up      without a connection before open windows fail with `Unreachable`; None: never
    """

    connect: float = 10.0
    answer: float = 60.0
    silence: float = 15.0
    first_wait: float = 0.2
    longest_wait: float = 10.0
    give_up: float | None = None


class Backoff:
    """Waits `first` seconds after the first failure, then twice as long each time up to `longest`.

    A wait is a random part of that, at least half of it, so that many clients do not come back at
    the same moment.
    """

    def __init__(self, first: float, longest: float, jitter: random.Random) -> None:
        self._first = first
        self._longest = longest
        self._jitter = jitter
        self._next = first

    def failed(self) -> float:
        """Count a failure; return the seconds to wait from now on."""
        wait = self._next * self._jitter.uniform(0.5, 1.0)
        self._next = min(2 * self._next, self._longest)
        return wait

    def reset(self) -> None:
        """Begin again with the first wait: the attempt was successful."""
        self._next = self._first
