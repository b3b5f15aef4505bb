"""All open WebSockets: looked after while they are here, and shown out at the end."""

from __future__ import annotations

import asyncio
import time

from evergrid.gateway.access.connection_limiter import Threshold
from evergrid.gateway.live.live_connection import GOODBYE_SECONDS, Connection
from evergrid.protocol.codes import Code

LOOK_SECONDS = 0.5
AT_ONCE = 100  # looked at in one turn of the event loop


class Guests:
    """One task looks after all of them: a timer for each would cost more."""

    def __init__(self) -> None:
        self._connections: set[Connection] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._closing = False

    async def host(self, connection: Connection) -> None:
        """Until the connection is over."""
        self._connections.add(connection)
        self._empty.clear()
        try:
            if self._closing:
                _show_out(connection)
            await connection.run()
        finally:
            self._connections.discard(connection)
            if not self._connections:
                self._empty.set()

    async def look_after(self, threshold: Threshold) -> None:
        """For ever: hearts, lateness, silence, expired keys, readers that stand still."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            threshold.look(time.monotonic())
            for index, connection in enumerate(list(self._connections), start=1):
                connection.look(time.monotonic())
                if index % AT_ONCE == 0:
                    await asyncio.sleep(0)

    async def show_out(self) -> None:
        """Tell everybody that the gateway stops, and wait until they have left."""
        self._closing = True
        for connection in list(self._connections):
            _show_out(connection)
        try:
            async with asyncio.timeout(GOODBYE_SECONDS + 2 * LOOK_SECONDS):
                await self._empty.wait()
        except TimeoutError:
            for connection in list(self._connections):
                connection.hang_up()


def _show_out(connection: Connection) -> None:
    connection.end(Code.SHUTTING_DOWN, "this gateway stops. Connect again in a moment.")
