"""The endpoint /api/live: accepts WebSockets, checks them regularly, and ends them at the stop."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Sequence

from aiohttp import hdrs, web

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.access_key import KeyFinder
from evergrid.gateway.access.audit_log import AuditLog
from evergrid.gateway.access.auth_middleware import key_of
from evergrid.gateway.access.connection_limiter import (
    ConnectionLimiter,
    client_address,
    to_close,
)
from evergrid.gateway.access.limits import ConnectionCounter, ConnectionSlot
from evergrid.gateway.access.open_sessions import SessionInfo
from evergrid.gateway.access.refusals import Refusals
from evergrid.gateway.access.request_error import RequestError
from evergrid.gateway.access.sending_bytes import SendingBytes
from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.table_engine import TableEngine
from evergrid.gateway.live.client_connection import CLOSE_SECONDS, ClientConnection
from evergrid.gateway.live.delivery_router import DeliveryRouter
from evergrid.gateway.live.live_session import LiveSession, SessionContext
from evergrid.gateway.live.session_audit import SessionAudit
from evergrid.gateway.live.websocket import LiveWebSocket
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import SUBPROTOCOL
from evergrid.version import __version__

CHECK_SECONDS = 0.5
CHECKED_AT_ONCE = 100  # in one turn of the event loop

# Of the whole process: no id is used twice.
_subscriber_ids = itertools.count(1)
_numbers = itertools.count(1)


class LiveEndpoint:
    """All open WebSocket connections, each with a session."""

    def __init__(
        self,
        limits: GatewayLimits,
        engine: TableEngine,
        keys: KeyFinder,
        counters: TrafficCounters,
        sending: SendingBytes,
        refusals: Refusals,
        audit: AuditLog,
    ) -> None:
        self._engine = engine
        self._counters = counters
        self._sending = sending
        self._refusals = refusals
        self._audit = audit
        self._limits = limits
        self._context = SessionContext(
            instance=engine.instance,
            server=__version__,
            limits=limits,
            keys=keys,
            next_subscriber=lambda: next(_subscriber_ids),
        )
        self.router = DeliveryRouter()
        self.slots = ConnectionCounter(limits)
        self._connections: set[ClientConnection] = set()
        # With their addresses; those that have logged in since are skipped.
        self._logging_in: dict[ConnectionSlot, tuple[ClientConnection, str]] = {}
        self._empty = asyncio.Event()
        self._closing = False

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The handler of the route; returns when the connection has ended."""
        socket = LiveWebSocket(self._context.limits.message_bytes)
        _check_handshake(request, socket)
        key = key_of(request)
        address = client_address(request.transport)
        if key is None:
            self._make_room()
        slot = self.slots.take(key.name if key else None)
        try:
            await socket.open(request)
            self._counters.connections += 1
            session = LiveSession(self._context, slot, key, time.monotonic(), random.random())
            connection = self._connection(session, socket, address)
            if key is None:
                self._logging_in[slot] = connection, address
            await self._run(connection)
        finally:
            self._logging_in.pop(slot, None)
            slot.release()
        return socket

    def _connection(
        self, session: LiveSession, socket: LiveWebSocket, address: str
    ) -> ClientConnection:
        number = next(_numbers)
        # With the instance in it, so that it is not the id of a session of another gateway.
        session_id = f"{self._engine.instance[:8]}-{number}"
        return ClientConnection(
            session,
            socket,
            self._engine,
            self.router,
            self._counters,
            self._sending,
            SessionAudit(self._audit, self._refusals, session_id, address),
            number,
        )

    def sessions(self) -> Sequence[SessionInfo]:
        """The open sessions, the oldest first."""
        return sorted((one.info for one in self._connections), key=lambda info: info.since)

    def end_session(self, session: str) -> SessionInfo | None:
        """End a session; its client may connect again, if its key is still valid."""
        for connection in self._connections:
            info = connection.info
            if info.id == session:
                connection.end(
                    Code.SESSION_ENDED, "session ended by an administrator. Connect again."
                )
                return info
        return None

    def _make_room(self) -> None:
        """End a connection that has not logged in, if there are too many, for a new one."""
        most = self._limits.strangers
        if self.slots.of_key(None) < most:
            return
        waiting = [
            (slot, address) for slot, (_, address) in self._logging_in.items() if slot.key is None
        ]
        slot = to_close(waiting)
        if slot is None:
            return
        connection, address = self._logging_in.pop(slot)
        what = f"WebSocket closed for a new one: {most} have not logged in"
        self._refusals.add("login_limit", what, address)
        connection.end(
            Code.TOO_MANY_CONNECTIONS,
            "too many connections are logging in, and this one is the oldest. Try again later.",
        )
        slot.release()

    async def _run(self, connection: ClientConnection) -> None:
        self._connections.add(connection)
        try:
            if self._closing:
                _shut_down(connection)
            await connection.run()
        finally:
            self._connections.discard(connection)
            if not self._connections:
                self._empty.set()

    async def check(self, limiter: ConnectionLimiter) -> None:
        """Check all connections regularly; runs until cancelled.

        One task checks all of them: a timer for each would cost more.
        """
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            limiter.check(time.monotonic())
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
                while self._connections:
                    self._empty.clear()
                    await self._empty.wait()
        except TimeoutError:
            for connection in list(self._connections):
                connection.abort()


def _shut_down(connection: ClientConnection) -> None:
    connection.end(
        Code.SHUTTING_DOWN, "shutting down: this gateway stops. Connect again in a moment."
    )


def _check_handshake(request: web.Request, socket: LiveWebSocket) -> None:
    offered = ",".join(request.headers.getall(hdrs.SEC_WEBSOCKET_PROTOCOL, []))
    if SUBPROTOCOL not in [name.strip() for name in offered.split(",")]:
        raise RequestError(
            Code.UNSUPPORTED_PROTOCOL,
            "unsupported WebSocket sub-protocol",
            remedy=f"Send 'Sec-WebSocket-Protocol: {SUBPROTOCOL}'.",
        )
    if request.method != hdrs.METH_GET or not socket.can_prepare(request).ok:
        raise RequestError(
            Code.UNSUPPORTED_PROTOCOL,
            "WebSocket handshake of version 13 expected",
            remedy="See RFC 6455, section 4.",
        )
