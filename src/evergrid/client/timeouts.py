"""Timeouts of the client."""

from __future__ import annotations

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
