"""Where sessions are held: what is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.access_key import Key, KeyProblem
from evergrid.gateway.engine.deliveries import Ticket
from evergrid.protocol.messages import PROTOCOL, Welcome

HEART_SECONDS = 5.0
SILENCE_SECONDS = 15.0  # three hearts: one may be lost in a reader's pause, not three


class KeyFinder(Protocol):
    """What is asked about keys."""

    def find(self, secret: str) -> Key | KeyProblem: ...
    def current(self, key: Key) -> Key | KeyProblem: ...


class Place(msgspec.Struct, frozen=True):
    """`tickets` gives a number that was never given before."""

    instance: str
    server: str
    limits: GatewayLimits
    keys: KeyFinder
    tickets: Callable[[], Ticket]

    def welcome(self, key: Key) -> Welcome:
        return Welcome(
            protocol=PROTOCOL,
            instance=self.instance,
            server=self.server,
            key=key.name,
            control=key.control,
            heart_seconds=HEART_SECONDS,
            max_windows=self.limits.windows_per_connection,
            max_rows=self.limits.window_rows,
            max_message_bytes=self.limits.message_bytes,
        )
