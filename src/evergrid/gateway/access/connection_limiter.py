"""Limits TCP connections that have not sent a request yet.

A TCP connection costs memory before any request can be rejected, so it is counted as soon as it
exists. Only a few may be silent at once, and each only for a limited time.
"""

from __future__ import annotations

import asyncio
import logging
import time

from aiohttp import web

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.json_response import error_response
from evergrid.gateway.access.request_error import INTERNAL_ERROR
from evergrid.protocol.error_codes import Code

KEEPALIVE_SECONDS = 30.0
HEADER_BYTES = 1024

# The gateway logs by the `log` that it is given; aiohttp's own log lines are dropped.
_no_log = logging.getLogger("evergrid.gateway.http")
_no_log.setLevel(logging.CRITICAL + 1)  # so that they are not even formatted
_no_log.addHandler(logging.NullHandler())
_no_log.propagate = False


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
    """Makes the handler of each new connection, for `server`; a first request ends its silence.

    `server` is set after binding, because only then are the port and with it the app known.
    """

    def __init__(self, limits: GatewayLimits) -> None:
        self._limits = limits
        self._silent: dict[web.RequestHandler, float] = {}
        self.server: web.Server | None = None

    def __call__(self) -> asyncio.BaseProtocol:
        if self.server is None:
            raise ConnectionRefusedError("not started yet")
        limits = self._limits
        most = limits.connections + limits.strangers
        if len(self._silent) >= limits.strangers or len(self.server.connections) >= most:
            return _AbortedConnection()
        handler = HttpHandler(
            self.server,
            loop=asyncio.get_running_loop(),
            access_log=_no_log,
            logger=_no_log,
            keepalive_timeout=KEEPALIVE_SECONDS,
            # A filter may be as long in a URL as in a message.
            max_line_size=limits.message_bytes + HEADER_BYTES,
        )
        self._silent[handler] = time.monotonic()
        return handler

    def on_request(self, request: web.Request) -> None:
        self._silent.pop(request.protocol, None)

    def close_silent(self, now: float) -> None:
        """Abort connections that have been silent for too long."""
        for handler, connected in list(self._silent.items()):
            if now - connected > self._limits.login_seconds:
                del self._silent[handler]
                if handler.transport is not None:
                    handler.transport.abort()


class _AbortedConnection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
