"""The WebSocket connection for live windows, reconnected as long as there are windows.

1. Connect with the key in a header, send hello, and wait for the welcome.
2. Read and answer until the connection ends, or until no message came for too long: the gateway
   sends heartbeats, because a lost connection looks like an idle one.
3. Wait, longer each time, and go on with 1. An error that a retry cannot solve ends every window;
   a certificate that is not trusted is such an error only before the first welcome.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from asyncio.trsock import TransportSocket
from socket import SHUT_RDWR

import aiohttp

from evergrid.client.address import Address, Timeouts
from evergrid.client.client_errors import (
    ClientError,
    Rejected,
    Unreachable,
    connection_error,
    gateway_error,
    http_error,
)
from evergrid.client.live_protocol import LiveProtocol
from evergrid.model.errors import BrokenPromise, EvergridError
from evergrid.process.backoff import Backoff
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import PATH, SUBPROTOCOL

# Below a gateway's default limit (50 a second, 100 at once), beyond which it disconnects.
RATE = 40.0
BURST = 80.0

MISSED_HEARTBEATS = 3  # after this many the connection counts as lost
# After a timer that is so late, for example after suspend, waiting messages are read first.
LATE_TIMER_SECONDS = 1.0
CLOSE_SECONDS = 1.0  # for the close handshake; a peer that is gone does not answer

_CLOSED_FILENO = -1
_POLL_SECONDS = 0.005


class RateLimiter:
    """A token bucket: `rate` messages a second, and `burst` at once after a pause."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._at = 0.0

    def wait(self, now: float) -> float:
        """Seconds to wait before the next message, which counts as sent then."""
        self._left = min(self._burst, self._left + (now - self._at) * self._rate) - 1
        self._at = now
        return max(0.0, -self._left / self._rate)


class LiveConnection:
    """Connects a `LiveProtocol` to its gateway. Used on one event loop alone."""

    def __init__(
        self, session: aiohttp.ClientSession, address: Address, timeouts: Timeouts
    ) -> None:
        self._session = session
        self._url = address.url
        self._timeouts = timeouts
        self._wake = asyncio.Event()
        self.protocol = LiveProtocol(self._wake.set)
        self._task: asyncio.Task[None] | None = None
        self._known = False  # whether this gateway ever sent a welcome

    def start(self) -> None:
        """Connect, if there is no connection yet or the last one failed for good."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="evergrid connection")

    async def close(self, error: EvergridError) -> None:
        """End every window with `error`, and the connection."""
        self.protocol.fail(error)
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        timeouts = self._timeouts
        backoff = Backoff(timeouts.first_wait, timeouts.longest_wait, random.Random())
        lost_at: float | None = None
        while True:
            began = time.monotonic()
            try:
                await self._run_once()
            except (ClientError, BrokenPromise) as error:
                problem: EvergridError = error
            except Exception as error:  # a bug: the windows must end instead of waiting for ever
                bug = BrokenPromise(f"internal error ({error!r})", remedy="Please report this.")
                bug.__cause__ = error
                self.protocol.fail(bug)
                return
            was_welcomed = self.protocol.welcome is not None
            self._known = self._known or was_welcomed
            now = time.monotonic()
            if was_welcomed and now - began > timeouts.longest_wait:
                backoff.reset()
            lost_at = now if was_welcomed or lost_at is None else lost_at
            if self._is_final(problem, now - lost_at):
                self.protocol.fail(problem)
                return
            self.protocol.disconnected(problem.sentence())
            await asyncio.sleep(backoff.failed())

    def _is_final(self, problem: EvergridError, seconds: float) -> bool:
        """Whether not to retry, after this error and so many seconds without a connection."""
        is_rejected = isinstance(problem, ClientError) and not problem.retry
        give_up = self._timeouts.give_up
        return is_rejected or (give_up is not None and seconds >= give_up)

    async def _run_once(self) -> None:
        """One connection, from its beginning to the error that ends it."""
        socket = await self._connect()
        self.protocol.connected()
        sender = asyncio.create_task(self._send(socket), name="evergrid sender")
        try:
            while True:
                await self._receive(socket)
        finally:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await sender
            await _close(socket)

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        try:
            async with asyncio.timeout(self._timeouts.connect):
                socket = await self._session.ws_connect(
                    self._url + PATH,
                    protocols=(SUBPROTOCOL,),
                    timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
                    max_msg_size=0,
                    autoping=True,
                )
        except aiohttp.WSServerHandshakeError as error:
            raise http_error(error.status, self._url) from None
        except (aiohttp.ClientError, OSError) as error:
            raise connection_error(error, self._url, known=self._known) from None
        if socket.protocol != SUBPROTOCOL:
            await _close(socket)
            raise Rejected(
                f"unsupported protocol: the server does not speak {SUBPROTOCOL}",
                where=self._url,
                remedy="Check the address and the gateway's version.",
                code=Code.UNSUPPORTED_PROTOCOL.value,
            )
        return socket

    def _receive_timeout(self) -> float:
        if self.protocol.welcome is None:
            return self._timeouts.connect
        # A gateway may send heartbeats less often than this client expects.
        interval = MISSED_HEARTBEATS * self.protocol.welcome.heart_seconds
        return max(self._timeouts.silence, interval)

    async def _receive(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        message = await self._next(socket)
        now = time.time()
        if message.type is aiohttp.WSMsgType.TEXT:
            self.protocol.receive_text(message.data, now)
        elif message.type is aiohttp.WSMsgType.BINARY:
            self.protocol.receive_frame(message.data, now)
        else:
            raise self._close_error(socket)

    async def _next(self, socket: aiohttp.ClientWebSocketResponse) -> aiohttp.WSMessage:
        seconds = self._receive_timeout()
        began = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await socket.receive()
        if time.monotonic() - began > seconds + LATE_TIMER_SECONDS:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LATE_TIMER_SECONDS):
                    return await socket.receive()
        raise Unreachable(
            f"connection timed out: no message from the gateway for {seconds:g} s",
            where=self._url,
            retry=True,
        )

    def _close_error(self, socket: aiohttp.ClientWebSocketResponse) -> ClientError:
        """The error for the close code of a connection."""
        for code in Code:
            if code.fatal and code.close == socket.close_code:
                what = f"connection closed by the gateway ({code.value})"
                return gateway_error(code.value, what, retry=code.retry, where=self._url)
        return Unreachable("connection to the gateway lost", where=self._url, retry=True)

    async def _send(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Send waiting messages, within the rate limit."""
        limiter = RateLimiter(RATE, BURST)
        while True:
            due = self.protocol.retry(time.time())
            text = self.protocol.send_queue.take()
            if text is None:
                self._wake.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(due):
                        await self._wake.wait()
                continue
            await asyncio.sleep(limiter.wait(time.monotonic()))
            try:
                await socket.send_str(text)
            except (aiohttp.ClientError, ConnectionError):
                return  # the receiver gets the error with its reason


async def _close(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Close the WebSocket and its socket.

    TLS has a close handshake of its own, whose answer nobody reads once the program's event loop
    has ended: so the TCP connection below it is shut down.
    """
    plain: TransportSocket | None = socket.get_extra_info("socket")
    with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await socket.close()
    if plain is None:
        return
    with contextlib.suppress(TimeoutError, OSError):
        plain.shutdown(SHUT_RDWR)
        async with asyncio.timeout(CLOSE_SECONDS):
            while plain.fileno() != _CLOSED_FILENO:
                await asyncio.sleep(_POLL_SECONDS)
