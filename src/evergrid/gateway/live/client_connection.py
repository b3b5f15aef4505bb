"""One client's WebSocket connection: reads messages, does its session's actions, writes.

The reader never waits for the writer, and the writer holds one message at a time: what a slow
client misses meanwhile is replaced by what is newest then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from aiohttp import WSMsgType

from evergrid.gateway.access.open_sessions import SessionInfo
from evergrid.gateway.access.request_error import INTERNAL_ERROR
from evergrid.gateway.access.sending_bytes import SMALL_BYTES, SendingBytes
from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.deliveries import (
    Delivery,
    Owner,
    Published,
    Resumed,
    StateChanged,
    SubscriberId,
)
from evergrid.gateway.engine.table_engine import TableEngine
from evergrid.gateway.engine.trace import is_on, trace
from evergrid.gateway.live.delivery_router import DeliveryRouter
from evergrid.gateway.live.live_session import LiveSession
from evergrid.gateway.live.outbound_queue import OutboundQueue
from evergrid.gateway.live.session_actions import (
    Action,
    CloseWindow,
    EndConnection,
    MoveWindow,
    OpenWindow,
)
from evergrid.gateway.live.session_audit import SessionAudit
from evergrid.gateway.live.websocket import LiveWebSocket
from evergrid.protocol.error_codes import Code
from evergrid.protocol.frames import decode
from evergrid.protocol.messages import Failed, State, Welcome, encode, failed

CLOSE_SECONDS = 4.0  # for the last message to be sent; then the socket is closed without it
STALL_SECONDS = 10.0
# With TLS the progress within a frame is not visible, only that all of it was sent.
TLS_STALL_SECONDS = 30.0


class StallTimer:
    """Notices a client that has stopped reading, by the bytes that wait for it; slow is allowed."""

    def __init__(self, seconds: float, now: float) -> None:
        self._seconds = seconds
        self._waiting = 0
        self._since = now

    def update(self, waiting: int, now: float) -> bool:
        """Whether the client reads: it took some bytes since the last call, or has taken all."""
        reads = waiting < self._waiting or waiting == 0
        if reads or self._waiting == 0:
            self._since = now
        self._waiting = waiting
        return reads

    def is_stalled(self, now: float) -> bool:
        """Whether the client has read nothing for too long."""
        return self._waiting > 0 and now - self._since > self._seconds


class ClientConnection:
    def __init__(
        self,
        session: LiveSession,
        socket: LiveWebSocket,
        engine: TableEngine,
        router: DeliveryRouter,
        counters: TrafficCounters,
        sending: SendingBytes,
        audit: SessionAudit,
        number: int,
    ) -> None:
        self._session = session
        self._socket = socket
        self._engine = engine
        self._router = router
        self._counters = counters
        self._sending = sending
        self._audit = audit
        self._number = number
        self._since = time.time_ns() // 1000
        self._queue = OutboundQueue()
        self._wake = asyncio.Event()
        self._end: EndConnection | None = None
        self._ended_at = 0.0
        seconds = TLS_STALL_SECONDS if socket.encrypted else STALL_SECONDS
        self._stall_timer = StallTimer(seconds, time.monotonic())

    async def run(self) -> None:
        """Run until the connection has ended; then release all that belongs to it."""
        writer = asyncio.create_task(self._write())
        try:
            await self._read()
        except Exception:
            self.end(Code.INTERNAL, INTERNAL_ERROR)
            raise
        finally:
            for subscriber in self._session.subscribers:
                self._router.remove(subscriber)
                self._engine.close(subscriber)
            if self._end is not None:
                await asyncio.wait({writer}, timeout=CLOSE_SECONDS)
            writer.cancel()
            await asyncio.wait({writer})
            self._socket.abort()
        if not writer.cancelled() and (error := writer.exception()):
            raise error

    # From the client

    async def _read(self) -> None:
        while self._end is None:
            message = await self._socket.receive()
            now = time.monotonic()
            if message.type is WSMsgType.TEXT:
                self._counters.messages += 1
                self._do(self._session.receive(message.data, now))
            elif message.type is WSMsgType.BINARY:
                self.end(Code.NOT_TEXT, "binary message: messages to a gateway are JSON as text.")
            elif message.type in (WSMsgType.PING, WSMsgType.PONG):
                self._do(self._session.receive_ping(now))
                if message.type is WSMsgType.PING:
                    await self._socket.answer_ping(message.data)
            else:
                if fault := self._socket.fault:
                    self._counters.ended[fault] += 1
                return

    # From the engine

    def deliver(self, subscriber: SubscriberId, delivery: Delivery) -> None:
        if isinstance(delivery, Published):
            self._queue.offer(subscriber, delivery.publication)
        elif isinstance(delivery, Resumed):
            self._queue.resume(subscriber, delivery.publication, delivery.sequence)
        elif isinstance(delivery, StateChanged):
            self._do(self._session.state_changed(delivery))
        else:
            self._do(self._session.rejected(delivery))

    def wake(self) -> None:
        """Let the writer send what has been delivered."""
        self._wake.set()

    # From the connection set

    def check(self, now: float) -> None:
        """Heartbeats, late logins, silent clients, and clients that have stopped reading."""
        if self._end is not None:
            if now - self._ended_at > CLOSE_SECONDS:
                self._socket.abort()
            return
        waiting = self._socket.waiting
        if self._stall_timer.update(waiting, now):
            if waiting:
                self._session.is_reading(now)
        elif self._stall_timer.is_stalled(now):
            # Its socket is full, so the client cannot get this message.
            self.end(Code.TOO_SLOW, "timeout: the client has stopped reading.")
            self._socket.abort()
            return
        self._do(self._session.check(now, time.time_ns() // 1000))

    def end(self, code: Code, message: str) -> None:
        self._do(self._session.end(code, message))

    @property
    def info(self) -> SessionInfo:
        audit, session = self._audit, self._session
        windows = len(session.subscribers)
        return SessionInfo(audit.id, session.key_name, audit.address, self._since, windows)

    def abort(self) -> None:
        """Close the socket without a message."""
        self._socket.abort()

    def _do(self, actions: Sequence[Action]) -> None:
        for action in actions:
            self._do_one(action)
        if actions:
            self._wake.set()

    def _do_one(self, action: Action) -> None:
        if isinstance(action, OpenWindow):
            self._queue.open(action.subscriber, action.sub)
            self._router.add(action.subscriber, self)
            owner = Owner(self._number, self._session.key_name)
            self._engine.open(action.subscriber, action.query, action.window, action.resume, owner)
            if is_on():
                table = action.query.table
                trace("window opened", session=self._audit.id, sub=action.sub, table=table)
        elif isinstance(action, MoveWindow):
            self._queue.move(action.subscriber, action.window)
            self._engine.move(action.subscriber, action.window)
        elif isinstance(action, CloseWindow):
            self._queue.close(action.subscriber, action.sub)
            self._router.remove(action.subscriber)
            if not action.by_engine:
                self._engine.close(action.subscriber)
        elif isinstance(action, EndConnection):
            self._end = action
            self._ended_at = time.monotonic()
            self._counters.ended[action.code] += 1
            self._audit.refused(action.code, self._session.key_name or action.key)
        elif isinstance(action.message, State):
            self._queue.add_state(action.message)
        else:
            if isinstance(action.message, Welcome):
                self._counters.logins += 1
                self._audit.logged_in(self._session.key_name)
                trace("session opened", session=self._audit.id, key=self._session.key_name)
            elif isinstance(action.message, Failed):
                self._audit.refused(Code.named(action.message.code), self._session.key_name)
            if not self._queue.add_message(encode(action.message)):
                self.end(Code.TOO_SLOW, "too slow: too many messages wait to be read.")

    # To the client

    async def _write(self) -> None:
        try:
            while self._end is None:
                self._wake.clear()
                await self._send_queued()
                if self._end is None:
                    await self._wake.wait()
            await self._close(self._end)
        except ConnectionError:
            return  # the client is gone: the reader sees it too
        except Exception:
            self._socket.abort()
            raise

    async def _send_queued(self) -> None:
        """Send messages first, then one frame at a time, until the queue is empty or the end."""
        while self._end is None:
            if message := self._queue.next_message():
                self._counters.texts += 1
                text = message if isinstance(message, str) else encode(message)
                await self._socket.send_str(text)
            elif self._must_wait():
                self._sending.call_when_free(self._wake.set)
                return
            elif frame := self._queue.next_frame():
                self._counters.frames += 1
                self._counters.frame_bytes += len(frame)
                with self._sending.sending(self._session.key_name, len(frame)):
                    await self._socket.send_bytes(frame)
                if is_on():
                    self._trace(frame)
            else:
                return

    def _trace(self, frame: bytes) -> None:
        sent = decode(frame)
        trace(
            "sent",
            session=self._audit.id,
            sub=sent.sub,
            generation=sent.header.generation,
            sequence=sent.header.sequence,
            kind=sent.header.kind.name.lower(),
        )

    def _must_wait(self) -> bool:
        """Whether the next frame is large, and there is no room for it now."""
        large = self._queue.next_frame_bytes() > SMALL_BYTES
        return large and self._sending.is_full(self._session.key_name)

    async def _close(self, end: EndConnection) -> None:
        while message := self._queue.next_message():
            if isinstance(message, str):
                await self._socket.send_str(message)
        await self._socket.send_str(encode(failed(end.code, end.message)))
        await self._socket.close(code=end.code.close, message=end.code.value.encode())
