"""The way from a request at /api/live to a conversation."""

from __future__ import annotations

import random
import time

from aiohttp import hdrs, web

from evergrid.gateway.access.auth_middleware import key_of
from evergrid.gateway.access.limits import Turnstile, Visit
from evergrid.gateway.access.request_error import Refusal
from evergrid.gateway.access.traffic_counters import Counts
from evergrid.gateway.live.connection_set import Guests
from evergrid.gateway.live.delivery_router import Switchboard
from evergrid.gateway.live.live_connection import Connection, Windows
from evergrid.gateway.live.live_session import Session
from evergrid.gateway.live.session_context import Place
from evergrid.gateway.live.websocket import Socket
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import SUBPROTOCOL


class Lobby:
    """Takes WebSockets in."""

    def __init__(
        self,
        place: Place,
        windows: Windows,
        switchboard: Switchboard,
        turnstile: Turnstile,
        guests: Guests,
        counts: Counts,
    ) -> None:
        self._place = place
        self._windows = windows
        self._switchboard = switchboard
        self._turnstile = turnstile
        self._guests = guests
        self._counts = counts

    async def live(self, request: web.Request) -> web.StreamResponse:
        """The handler of the route; ends when the client has left."""
        socket = Socket(self._place.limits.message_bytes)
        _check_handshake(request, socket)
        key = key_of(request)
        visit = self._turnstile.enter(key.name if key else None)
        if not isinstance(visit, Visit):
            raise Refusal(*visit)
        try:
            await socket.open(request)
            self._counts.connections += 1
            session = Session(self._place, visit, key, time.monotonic(), random.random())
            await self._guests.host(
                Connection(session, socket, self._windows, self._switchboard, self._counts)
            )
        finally:
            visit.leave()
        return socket


def _check_handshake(request: web.Request, socket: Socket) -> None:
    offered = ",".join(request.headers.getall(hdrs.SEC_WEBSOCKET_PROTOCOL, []))
    if SUBPROTOCOL not in [name.strip() for name in offered.split(",")]:
        raise Refusal(
            Code.UNSUPPORTED_PROTOCOL,
            "this address speaks WebSocket with another sub-protocol",
            remedy=f"Send 'Sec-WebSocket-Protocol: {SUBPROTOCOL}'.",
        )
    if request.method != hdrs.METH_GET or not socket.can_prepare(request).ok:
        raise Refusal(
            Code.UNSUPPORTED_PROTOCOL,
            "this is no WebSocket handshake of version 13",
            remedy="See RFC 6455, section 4.",
        )
