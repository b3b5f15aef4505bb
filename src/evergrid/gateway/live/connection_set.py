"""All open WebSocket connections: checked regularly, and ended when the gateway stops."""

from __future__ import annotations

import asyncio
import time

from evergrid.gateway.access.connection_limiter import ConnectionLimiter
from evergrid.gateway.live.client_connection import CLOSE_SECONDS, ClientConnection
from evergrid.protocol.error_codes import Code

CHECK_SECONDS = 0.5
CHECKED_AT_ONCE = 100  # in one turn of the event loop


class ConnectionSet:
    """One task checks all connections: a timer for each would cost more."""

    def __init__(self) -> None:
        self._connections: set[ClientConnection] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._closing = False

    async def run(self, connection: ClientConnection) -> None:
        """Run the connection until it has ended."""
        self._connections.add(connection)
        self._empty.clear()
        try:
            if self._closing:
                _shut_down(connection)
            await connection.run()
        finally:
            self._connections.discard(connection)
            if not self._connections:
                self._empty.set()

    async def check(self, limiter: ConnectionLimiter) -> None:
        """Check all connections regularly; runs until cancelled."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            limiter.close_silent(time.monotonic())
            for index, connection in enumerate(list(self._connections), start=1):
                connection.check(time.monotonic())
                if index % CHECKED_AT_ONCE == 0:
                    await asyncio.sleep(0)

    async def shut_down(self) -> None:
        """Tell all clients that the gateway stops, and wait until they are gone."""
        self._closing = True
        for connection in list(self._connections):
            _shut_down(connection)
        try:
            async with asyncio.timeout(CLOSE_SECONDS + 2 * CHECK_SECONDS):
                await self._empty.wait()
        except TimeoutError:
            for connection in list(self._connections):
                connection.abort()


def _shut_down(connection: ClientConnection) -> None:
    connection.end(
        Code.SHUTTING_DOWN, "shutting down: this gateway stops. Connect again in a moment."
    )
