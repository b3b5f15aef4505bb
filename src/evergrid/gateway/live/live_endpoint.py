"""The endpoint /api/live: turns a request into a WebSocket connection with a session."""

from __future__ import annotations

import random
import time

from aiohttp import hdrs, web

from evergrid.gateway.access.auth_middleware import key_of
from evergrid.gateway.access.limits import ConnectionCounter
from evergrid.gateway.access.request_error import RequestError
from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.table_engine import TableEngine
from evergrid.gateway.live.client_connection import ClientConnection
from evergrid.gateway.live.connection_set import ConnectionSet
from evergrid.gateway.live.delivery_router import DeliveryRouter
from evergrid.gateway.live.live_session import LiveSession
from evergrid.gateway.live.session_context import SessionContext
from evergrid.gateway.live.websocket import LiveWebSocket
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import SUBPROTOCOL


class LiveEndpoint:
    """Accepts WebSockets."""

    def __init__(
        self,
        context: SessionContext,
        engine: TableEngine,
        router: DeliveryRouter,
        slots: ConnectionCounter,
        connections: ConnectionSet,
        counters: TrafficCounters,
    ) -> None:
        self._context = context
        self._engine = engine
        self._router = router
        self._slots = slots
        self._connections = connections
        self._counters = counters

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The handler of the route; returns when the connection has ended."""
        socket = LiveWebSocket(self._context.limits.message_bytes)
        _check_handshake(request, socket)
        key = key_of(request)
        slot = self._slots.take(key.name if key else None)
        try:
            await socket.open(request)
            self._counters.connections += 1
            session = LiveSession(self._context, slot, key, time.monotonic(), random.random())
            await self._connections.run(
                ClientConnection(session, socket, self._engine, self._router, self._counters)
            )
        finally:
            slot.release()
        return socket


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
