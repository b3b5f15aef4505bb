"""How long the client waits for what."""

from __future__ import annotations

import random

import msgspec


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """All in seconds. The defaults suit people who look at screens and jobs that run for months.

    connect      for a connection, and for the gateway's first word on it
    answer       for the next bytes of an HTTP answer; the first may need a view of millions of rows
    silence      without a word from the gateway before the connection counts as dead; it speaks
                 every few seconds even when nothing changes
    first_wait   before the second try to connect; each further wait is about twice as long
    longest_wait at most between two tries
    give_up      without a connection before open windows fail with `Unreachable`; None: never
    """

    connect: float = 10.0
    answer: float = 60.0
    silence: float = 15.0
    first_wait: float = 0.2
    longest_wait: float = 10.0
    give_up: float | None = None


class Waits:
    """Growing waits with chance in them, so that many clients do not come back all at once."""

    def __init__(self, patience: Patience, rng: random.Random | None = None) -> None:
        self._patience = patience
        self._rng = rng or random.Random()
        self._next = patience.first_wait

    def next(self) -> float:
        wait = self._next
        self._next = min(wait * 2, self._patience.longest_wait)
        return wait * self._rng.uniform(0.5, 1.0)

    def reset(self) -> None:
        self._next = self._patience.first_wait
