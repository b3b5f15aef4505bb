"""A WebSocket that keeps little in flight, and gives its reasons in our words."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from aiohttp import WSCloseCode, web

from evergrid.protocol.codes import Code
from evergrid.protocol.messages import SUBPROTOCOL, encode, failed

# What lies in the kernel cannot be replaced by something newer. (Linux doubles it.)
SEND_BUFFER_BYTES = 128 * 1024
CLOSE_SECONDS = 2.0

# What aiohttp finds wrong before a message reaches us, and how the protocol calls it.
_FAULTS = {
    int(WSCloseCode.PROTOCOL_ERROR): (Code.BAD_MESSAGE, "this breaks the WebSocket protocol."),
    int(WSCloseCode.INVALID_TEXT): (Code.NOT_TEXT, "a text message was no UTF-8."),
    int(WSCloseCode.MESSAGE_TOO_BIG): (Code.TOO_LARGE, "the message is too large."),
}


class Socket(web.WebSocketResponse):
    """The server's end; `fault` is what the client did wrong below the level of messages."""

    def __init__(self, message_bytes: int) -> None:
        super().__init__(
            timeout=CLOSE_SECONDS,
            autoping=False,
            protocols=(SUBPROTOCOL,),
            compress=False,
            # One more than allowed, so that the session is who says so in most cases.
            max_msg_size=message_bytes + 1,
            writer_limit=0,
        )
        self.fault: Code | None = None
        self._link: asyncio.Transport | None = None
        self.encrypted = False

    async def open(self, request: web.Request) -> None:
        """Shake hands, and have each send wait until the kernel has taken all of it."""
        self._link = request.transport
        await self.prepare(request)
        if self._link is None or self._link.is_closing():
            raise ConnectionResetError("the client left during its handshake")
        self.encrypted = self._link.get_extra_info("sslcontext") is not None
        self._link.set_write_buffer_limits(high=1, low=0)  # with 0, TLS would wait for ever
        if (plain := self._link.get_extra_info("socket")) is not None:
            with contextlib.suppress(OSError):
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)

    @property
    def waiting(self) -> int:
        """Bytes that the kernel has not taken yet."""
        if self._link is None:
            return 0
        try:
            return self._link.get_write_buffer_size()
        except AttributeError:
            # asyncio's TLS forgets its connection when it is closed a second time.
            return 0

    async def answer_ping(self, payload: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            await self.pong(payload)

    async def close(
        self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True
    ) -> bool:
        """aiohttp calls this too, for what it finds wrong; then the client is told our code."""
        if (found := _FAULTS.get(code)) and not self.closed:
            self.fault, sentence = found
            with contextlib.suppress(ConnectionError):
                await self.send_str(encode(failed(self.fault, sentence)))
            code, message = self.fault.close, self.fault.value.encode()
        return await super().close(code=code, message=message, drain=drain)

    def hang_up(self) -> None:
        """Close without waiting for anybody; nothing happens if it is closed."""
        if self._link is not None and (self.waiting or not self._link.is_closing()):
            self._link.abort()
