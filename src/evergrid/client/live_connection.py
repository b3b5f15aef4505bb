"""One connection after the other to a gateway's live windows, for as long as there are any.

1. Connect with the key in a header, say hello, hear the welcome.
2. Read and answer until the connection ends, or nothing was heard for too long: a dead
   connection looks exactly like a quiet one, so the gateway beats a heart.
3. Wait a little, longer each time, and go on with 1. What makes no sense to try again
   ends every window with its error; a certificate that is not to be trusted is that only
   before the first welcome.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from asyncio.trsock import TransportSocket
from socket import SHUT_RDWR

import aiohttp

from evergrid.client.address import Address
from evergrid.client.connection_errors import refused, unreachable
from evergrid.client.errors import ClientError, Rejected, Unreachable, told
from evergrid.client.live_protocol import Desk
from evergrid.client.send_queue import Pace
from evergrid.client.subscription import Subscription
from evergrid.client.timeouts import Patience, Waits
from evergrid.model.errors import BrokenPromise, EvergridError
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import PATH, SUBPROTOCOL
from evergrid.views.query import Query, Window

# After this many missed hearts of the gateway's own rhythm it counts as gone.
MISSED_HEARTS = 3
# Who wakes up so much too late slept: what was said meanwhile is heard first.
OVERSLEPT_SECONDS = 1.0
# For a goodbye to arrive; a peer that is gone does not answer it.
GOODBYE_SECONDS = 1.0

_GONE = -1
_LOOK_SECONDS = 0.005


class Link:
    """Keeps a desk's windows alive. Used on one event loop alone."""

    def __init__(
        self, session: aiohttp.ClientSession, address: Address, patience: Patience
    ) -> None:
        self._session = session
        self._address = address
        self._patience = patience
        self._desk = Desk()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._known = False  # whether this gateway has ever welcomed us

    def open(self, query: Query, window: Window, news: asyncio.Event) -> Subscription:
        subscription = self._desk.open(query, window, news.set)
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._live(), name="evergrid link")
        return subscription

    def move(self, subscription: Subscription, window: Window) -> None:
        self._desk.move(subscription, window)
        self._wake.set()

    def leave(self, subscription: Subscription) -> None:
        self._desk.close(subscription)
        self._wake.set()

    async def close(self, error: EvergridError) -> None:
        """End every window with `error`, and the connection."""
        self._desk.fail(error)
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _live(self) -> None:
        waits = Waits(self._patience)
        lost_at: float | None = None
        while True:
            began = time.monotonic()
            try:
                await self._talk()
            except (ClientError, BrokenPromise) as error:
                problem: EvergridError = error
            except Exception as error:  # a bug of ours: windows must end, not wait for nothing
                bug = BrokenPromise(f"the client failed ({error!r})", remedy="Please report this.")
                bug.__cause__ = error
                self._desk.fail(bug)
                return
            was_in = self._desk.welcome is not None
            self._known = self._known or was_in
            now = time.monotonic()
            if was_in and now - began > self._patience.longest_wait:
                waits.reset()
            lost_at = now if was_in or lost_at is None else lost_at
            if self._ends(problem, now - lost_at):
                self._desk.fail(problem)
                return
            self._desk.lost(problem.sentence())
            await asyncio.sleep(waits.next())

    def _ends(self, problem: EvergridError, without: float) -> bool:
        """Whether there is no use in going on, after this and so many seconds without."""
        if isinstance(problem, ClientError) and not problem.retry:
            return True
        give_up = self._patience.give_up
        return give_up is not None and without >= give_up

    async def _talk(self) -> None:
        """One connection, from its beginning to the error that ends it."""
        socket = await self._connect()
        self._desk.connected()
        self._wake.set()
        sender = asyncio.create_task(self._send(socket), name="evergrid link sender")
        try:
            while True:
                await self._receive(socket)
        finally:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await sender
            await _part(socket)

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        where = str(self._address)
        try:
            async with asyncio.timeout(self._patience.connect):
                socket = await self._session.ws_connect(
                    self._address.live(PATH),
                    protocols=(SUBPROTOCOL,),
                    headers=self._address.headers(),
                    timeout=aiohttp.ClientWSTimeout(ws_close=GOODBYE_SECONDS),
                    max_msg_size=0,
                    autoping=True,
                )
        except aiohttp.WSServerHandshakeError as error:
            raise refused(error.status, where) from None
        except (aiohttp.ClientError, OSError) as error:
            raise unreachable(error, where, known=self._known) from None
        if socket.protocol != SUBPROTOCOL:
            await _part(socket)
            raise Rejected(
                f"what answers here does not speak {SUBPROTOCOL}",
                where=where,
                remedy="Check the address and the gateway's version.",
                code=Code.UNSUPPORTED_PROTOCOL.value,
            )
        return socket

    def _silence(self) -> float:
        """How long to wait for the next word."""
        if self._desk.welcome is None:
            return self._patience.connect
        # A gateway may say a slower rhythm than this client expects, and is not dead then.
        rhythm = MISSED_HEARTS * self._desk.welcome.heart_seconds
        return max(self._patience.silence, rhythm)

    async def _receive(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        message = await self._next(socket)
        now = time.time()
        if message.type is aiohttp.WSMsgType.TEXT:
            self._desk.text(message.data, now)
        elif message.type is aiohttp.WSMsgType.BINARY:
            self._desk.binary(message.data, now)
        else:
            raise self._farewell(socket)
        if len(self._desk.outbox):
            self._wake.set()

    async def _next(self, socket: aiohttp.ClientWebSocketResponse) -> aiohttp.WSMessage:
        silence = self._silence()
        began = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(silence):
                return await socket.receive()
        if time.monotonic() - began > silence + OVERSLEPT_SECONDS:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(OVERSLEPT_SECONDS):
                    return await socket.receive()
        raise Unreachable(
            f"no word from the gateway for {silence:g} s", where=str(self._address), retry=True
        )

    def _farewell(self, socket: aiohttp.ClientWebSocketResponse) -> ClientError:
        """Why a connection ended, by its close code when no message said so."""
        where = str(self._address)
        for code in Code:
            if code.fatal and code.close == socket.close_code:
                return told(
                    code.value, f"the gateway closed ({code.value})", retry=code.retry, where=where
                )
        return Unreachable("the connection to the gateway ended", where=where, retry=True)

    async def _send(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Say what is to be said, no faster than a gateway takes it."""
        pace = Pace()
        while True:
            due = self._desk.due(time.time())
            text = self._desk.outbox.take()
            if text is None:
                self._wake.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(due):
                        await self._wake.wait()
                continue
            await asyncio.sleep(pace.wait(time.monotonic()))
            try:
                await socket.send_str(text)
            except (aiohttp.ClientError, ConnectionError):
                return  # the reader hears of it, with the reason


async def _part(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Say goodbye, and leave nothing open.

    TLS says a goodbye of its own after ours and waits for the answer, which nobody hears
    when the program's event loop ends meanwhile: so the connection is ended below it.
    """
    plain: TransportSocket | None = socket.get_extra_info("socket")
    with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
        async with asyncio.timeout(GOODBYE_SECONDS):
            await socket.close()
    if plain is None:
        return
    with contextlib.suppress(TimeoutError, OSError):
        plain.shutdown(SHUT_RDWR)
        async with asyncio.timeout(GOODBYE_SECONDS):
            while plain.fileno() != _GONE:
                await asyncio.sleep(_LOOK_SECONDS)
