"""Who has connected and not said a word yet: few at once, and not for long.

A TCP connection costs memory before any request could be refused, so it is counted from
the moment it is there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from aiohttp.web_protocol import RequestHandler

from evergrid.config.settings import GatewayLimits


class Threshold:
    """Makes the handler of each new connection; `spoke` when its first request has come."""

    def __init__(
        self,
        handler: Callable[[], RequestHandler],
        open_now: Callable[[], int],
        limits: GatewayLimits,
    ) -> None:
        self._handler = handler
        self._open_now = open_now
        self._most_silent = limits.strangers
        self._most = limits.connections + limits.strangers
        self._seconds = limits.login_seconds
        self._silent: dict[RequestHandler, float] = {}
        self.turned_away = 0

    def __call__(self) -> asyncio.BaseProtocol:
        if len(self._silent) >= self._most_silent or self._open_now() >= self._most:
            self.turned_away += 1
            return _NoEntry()
        handler = self._handler()
        self._silent[handler] = time.monotonic()
        return handler

    def spoke(self, handler: RequestHandler) -> None:
        self._silent.pop(handler, None)

    def look(self, now: float) -> None:
        """Hang up on those who have had their time."""
        for handler, came in list(self._silent.items()):
            if now - came > self._seconds:
                del self._silent[handler]
                if handler.transport is not None:
                    handler.transport.abort()


class _NoEntry(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
