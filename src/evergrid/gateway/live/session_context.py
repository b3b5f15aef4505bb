"""What all sessions of a gateway share."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.access_key import AccessKey, KeyFinder
from evergrid.gateway.engine.deliveries import SubscriberId
from evergrid.protocol.messages import PROTOCOL, Welcome

HEARTBEAT_SECONDS = 5.0
SILENCE_SECONDS = 15.0  # three heartbeats: a client may miss one while it is busy, not three


class SessionContext(msgspec.Struct, frozen=True):
    """`next_subscriber` returns a number that was never used before."""

    instance: str
    server: str
    limits: GatewayLimits
    keys: KeyFinder
    next_subscriber: Callable[[], SubscriberId]

    def welcome(self, key: AccessKey) -> Welcome:
        return Welcome(
            protocol=PROTOCOL,
            instance=self.instance,
            server=self.server,
            key=key.name,
            control=key.control,
            heart_seconds=HEARTBEAT_SECONDS,
            max_windows=self.limits.windows_per_connection,
            max_rows=self.limits.window_rows,
            max_message_bytes=self.limits.message_bytes,
        )
