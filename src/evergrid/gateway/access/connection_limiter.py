"""Where connections arrive: who has not said a word yet, and who says what is no HTTP.

A TCP connection costs memory before any request could be refused, so it is counted from
the moment it is there. Silent ones are few at once, and not for long.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from aiohttp import web

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.json_response import failure
from evergrid.gateway.access.request_error import UNFORESEEN
from evergrid.protocol.codes import Code


class Reception(web.RequestHandler):
    """aiohttp's handler of one connection, but what it refuses itself is said in our words."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if request.writer.output_size > 0:
            raise ConnectionError("half of an answer is sent: only breaking off can say so")
        if status == 400:
            answer = failure(Code.BAD_PARAMETER, "this is no HTTP request that we understand.")
        else:
            answer = failure(Code.INTERNAL, UNFORESEEN)
        answer.headers["Server"] = "evergrid"
        answer.headers["X-Content-Type-Options"] = "nosniff"
        answer.force_close()
        return answer


class Threshold:
    """Makes the handler of each new connection; `spoke` when its first request has come."""

    def __init__(
        self,
        handler: Callable[[], Reception],
        open_now: Callable[[], int],
        limits: GatewayLimits,
    ) -> None:
        self._handler = handler
        self._open_now = open_now
        self._most_silent = limits.strangers
        self._most = limits.connections + limits.strangers
        self._seconds = limits.login_seconds
        self._silent: dict[web.RequestHandler, float] = {}
        self.turned_away = 0

    def __call__(self) -> asyncio.BaseProtocol:
        if len(self._silent) >= self._most_silent or self._open_now() >= self._most:
            self.turned_away += 1
            return _NoEntry()
        handler = self._handler()
        self._silent[handler] = time.monotonic()
        return handler

    def spoke(self, handler: web.RequestHandler) -> None:
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
