"""Limits TCP connections that have not sent a request yet.

A TCP connection costs memory before any request can be rejected, so it is counted as soon as it
exists. Only a few may be silent at once, and each only for a limited time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from aiohttp import web

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.json_response import error_response
from evergrid.gateway.access.request_error import INTERNAL_ERROR
from evergrid.protocol.error_codes import Code


class HttpHandler(web.RequestHandler):
    """aiohttp's handler of one connection, with Evergrid's error responses."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if request.writer.output_size > 0:
            raise ConnectionError("response incomplete: the connection is aborted to show that")
        if status == 400:
            response = error_response(Code.BAD_PARAMETER, "malformed HTTP request.")
        else:
            response = error_response(Code.INTERNAL, INTERNAL_ERROR)
        response.headers["Server"] = "evergrid"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.force_close()
        return response


class ConnectionLimiter:
    """Makes the handler of each new connection; `first_request` ends its silence."""

    def __init__(
        self,
        handler: Callable[[], HttpHandler],
        open_now: Callable[[], int],
        limits: GatewayLimits,
    ) -> None:
        self._handler = handler
        self._open_now = open_now
        self._most_silent = limits.strangers
        self._most = limits.connections + limits.strangers
        self._seconds = limits.login_seconds
        self._silent: dict[web.RequestHandler, float] = {}
        self.rejected = 0

    def __call__(self) -> asyncio.BaseProtocol:
        if len(self._silent) >= self._most_silent or self._open_now() >= self._most:
            self.rejected += 1
            return _AbortedConnection()
        handler = self._handler()
        self._silent[handler] = time.monotonic()
        return handler

    def first_request(self, handler: web.RequestHandler) -> None:
        self._silent.pop(handler, None)

    def close_silent(self, now: float) -> None:
        """Abort connections that have been silent for too long."""
        for handler, connected in list(self._silent.items()):
            if now - connected > self._seconds:
                del self._silent[handler]
                if handler.transport is not None:
                    handler.transport.abort()


class _AbortedConnection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
