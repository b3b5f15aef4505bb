"""Limits TCP connections, and always leaves room for new ones.

A TCP connection costs memory before any request can be rejected, so it is counted as soon as it
exists. Only a few may be silent at once, and each only for a limited time. At a limit the
gateway closes an old connection of the address that has most of them, instead of refusing the
new one: whoever only holds connections keeps nobody else out.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar, cast

from aiohttp import web
from aiohttp.http import WebSocketReader

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.frame_checker import FrameChecker
from evergrid.gateway.access.json_response import error_response
from evergrid.gateway.access.refusals import Refusals
from evergrid.gateway.access.request_error import INTERNAL_ERROR
from evergrid.protocol.error_codes import Code

KEEPALIVE_SECONDS = 30.0
HEADER_BYTES = 1024
WRITE_SECONDS = 30.0  # without progress; then a response that is not read is given up
OPENING = 1024  # connections within their TLS handshake

Held = TypeVar("Held")

# The gateway logs by the `log` that it is given; aiohttp's own log lines are dropped.
_no_log = logging.getLogger("evergrid.gateway.http")
_no_log.setLevel(logging.CRITICAL + 1)  # so that they are not even formatted
_no_log.addHandler(logging.NullHandler())
_no_log.propagate = False


class HttpHandler(web.RequestHandler):
    """aiohttp's handler of one connection, with Evergrid's error responses."""

    __slots__ = ("limiter",)

    limiter: ConnectionLimiter

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.limiter.admit(self)

    def set_parser(
        self, parser: WebSocketReader, data_received_cb: Callable[[], None] | None = None
    ) -> None:
        checked = cast(WebSocketReader, FrameChecker(parser))
        super().set_parser(checked, data_received_cb)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.limiter.forget(self)
        super().connection_lost(exc)

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

    `start` is called after binding, because only then are the port and with it the app known.
    """

    def __init__(self, limits: GatewayLimits) -> None:
        self._limits = limits
        self._opening: dict[web.RequestHandler, float] = {}
        self._open: set[web.RequestHandler] = set()  # without those that are being aborted
        self._silent: dict[web.RequestHandler, float] = {}
        # Between two requests, or sending a response: the bytes that wait, and since when.
        self._idle: dict[web.RequestHandler, tuple[int, float]] = {}
        self._server: web.Server | None = None
        self._refusals: Refusals | None = None

    def start(self, server: web.Server | None, refusals: Refusals) -> None:
        self._server = server
        self._refusals = refusals

    def __call__(self) -> asyncio.BaseProtocol:
        if self._server is None:
            raise ConnectionRefusedError("not started yet")
        if len(self._opening) >= OPENING:
            self._report("opening_limit", f"Connection refused: {OPENING} are being opened", None)
            return _AbortedConnection()
        handler = HttpHandler(
            self._server,
            loop=asyncio.get_running_loop(),
            access_log=_no_log,
            logger=_no_log,
            keepalive_timeout=KEEPALIVE_SECONDS,
            # A filter may be as long in a URL as in a message.
            max_line_size=self._limits.message_bytes + HEADER_BYTES,
        )
        handler.limiter = self
        self._opening[handler] = time.monotonic()
        return handler

    def admit(self, handler: HttpHandler) -> None:
        """Count a new connection; at a limit, close another one for it."""
        limits = self._limits
        self._opening.pop(handler, None)
        if len(self._silent) >= limits.strangers:
            what = f"Connection closed for a new one: {limits.strangers} have sent no request yet"
            self._abort(_oldest(self._silent) or handler, "silent_limit", what)
        self._silent[handler] = time.monotonic()
        most = limits.connections + limits.strangers
        self._open.add(handler)
        if len(self._open) > most:
            found = _oldest(self._idle) or handler
            self._abort(found, "connection_limit", f"Connection closed: there are {most}")

    def forget(self, handler: web.RequestHandler) -> None:
        self._open.discard(handler)
        for connections in (self._opening, self._silent, self._idle):
            connections.pop(handler, None)

    def on_request(self, request: web.Request) -> None:
        self._silent.pop(request.protocol, None)
        self._idle.pop(request.protocol, None)

    def on_response(self, request: web.Request) -> None:
        """The response is ready to be sent, and the connection waits for its next request."""
        handler = request.protocol
        if handler.transport is not None:
            # Moved to the end, so that the one that was idle for longest is the first.
            self._idle[handler] = (0, time.monotonic())

    def check(self, now: float) -> None:
        """Close connections that were silent for too long, or do not read a response."""
        for handler, begun in list(self._opening.items()):
            if now - begun > self._limits.login_seconds:
                del self._opening[handler]  # asyncio ends the TLS handshake
        for handler, connected in list(self._silent.items()):
            if now - connected > self._limits.login_seconds:
                self._abort(handler, "silent_timeout", "Connection closed: it sent no request")
        for handler, (before, since) in list(self._idle.items()):
            waiting = _waiting(handler)
            if waiting == 0 or waiting != before:
                self._idle[handler] = (waiting, now)
            elif now - since > WRITE_SECONDS:
                what = f"Connection closed: a response was not read for {WRITE_SECONDS:.0f} s"
                self._abort(handler, "unread_response", what)

    def _abort(self, handler: web.RequestHandler, reason: str, sentence: str) -> None:
        self._report(reason, sentence, handler)
        self.forget(handler)
        if handler.transport is not None:
            handler.transport.abort()

    def _report(self, reason: str, sentence: str, handler: web.RequestHandler | None) -> None:
        if self._refusals is not None:
            self._refusals.add(reason, sentence, _address(handler) if handler else "")


def to_close(held: Iterable[tuple[Held, str]]) -> Held | None:
    """Of connections with their addresses, the first one of the address that has most."""
    pairs = list(held)
    if not pairs:
        return None
    [(most, _)] = Counter(address for _, address in pairs).most_common(1)
    return next(one for one, address in pairs if address == most)


def _oldest(handlers: Iterable[web.RequestHandler]) -> web.RequestHandler | None:
    return to_close((handler, _address(handler)) for handler in handlers)


def client_address(transport: asyncio.BaseTransport | None) -> str:
    """The client's address without its port; behind a proxy, the proxy's."""
    peer = transport.get_extra_info("peername") if transport is not None else None
    return str(peer[0]) if isinstance(peer, tuple) else ""


def _address(handler: web.RequestHandler) -> str:
    return client_address(handler.transport)


def _waiting(handler: web.RequestHandler) -> int:
    transport = handler.transport
    try:
        return transport.get_write_buffer_size() if transport is not None else 0
    except AttributeError:  # asyncio's TLS transport, once it is closed
        return 0


class _AbortedConnection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
