"""A WebSocket that buffers little, and reports protocol errors with Evergrid's codes."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from aiohttp import WSCloseCode, web

from evergrid.gateway.access.frame_checker import MOST_FRAMES
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import SUBPROTOCOL, encode, failed

# What the kernel has buffered cannot be replaced by something newer. (Linux doubles it.)
SEND_BUFFER_BYTES = 128 * 1024
CLOSE_SECONDS = 2.0

# Errors that aiohttp finds below the level of messages, by close code.
_FAULTS = {
    int(WSCloseCode.PROTOCOL_ERROR): (
        Code.BAD_MESSAGE,
        "WebSocket protocol error: frames must be masked and as RFC 6455 defines them, and a "
        f"message has at most {MOST_FRAMES}.",
    ),
    int(WSCloseCode.INVALID_TEXT): (Code.NOT_TEXT, "invalid UTF-8 in a text message."),
    int(WSCloseCode.MESSAGE_TOO_BIG): (Code.TOO_LARGE, "message too large."),
}


class LiveWebSocket(web.WebSocketResponse):
    """The server's end; `fault` is a client's error below the level of messages."""

    def __init__(self, message_bytes: int) -> None:
        super().__init__(
            timeout=CLOSE_SECONDS,
            autoping=False,
            protocols=(SUBPROTOCOL,),
            compress=False,
            # One more than allowed, so that in most cases the session reports the error.
            max_msg_size=message_bytes + 1,
            writer_limit=0,
        )
        self.fault: Code | None = None
        self._link: asyncio.Transport | None = None
        self.encrypted = False

    async def open(self, request: web.Request) -> None:
        """Do the handshake; from then on, each send waits until the kernel has taken all of it."""
        self._link = request.transport
        await self.prepare(request)
        if self._link is None or self._link.is_closing():
            raise ConnectionResetError("the client disconnected during its handshake")
        self.encrypted = self._link.get_extra_info("sslcontext") is not None
        self._link.set_write_buffer_limits(high=1, low=0)  # with 0, TLS would wait for ever
        if (plain := self._link.get_extra_info("socket")) is not None:
            with contextlib.suppress(OSError):
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)

    @property
    def waiting(self) -> int:
        """The number of bytes that the kernel has not taken yet."""
        if self._link is None:
            return 0
        try:
            return self._link.get_write_buffer_size()
        except AttributeError:
            # asyncio's TLS transport loses its connection when it is closed a second time.
            return 0

    async def answer_ping(self, payload: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            await self.pong(payload)

    async def close(
        self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True
    ) -> bool:
        """aiohttp calls this too, for errors that it finds; the client gets Evergrid's code."""
        if (found := _FAULTS.get(code)) and not self.closed:
            self.fault, sentence = found
            with contextlib.suppress(ConnectionError):
                await self.send_str(encode(failed(self.fault, sentence)))
            code, message = self.fault.close, self.fault.value.encode()
        return await super().close(code=code, message=message, drain=drain)

    def abort(self) -> None:
        """Close at once, without waiting for the client; does nothing if it is closed."""
        if self._link is not None and (self.waiting or not self._link.is_closing()):
            self._link.abort()
