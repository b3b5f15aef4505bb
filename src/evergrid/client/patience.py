"""How long the client waits for what."""

from __future__ import annotations

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
