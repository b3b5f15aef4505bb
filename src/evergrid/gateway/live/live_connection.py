"""One client's WebSocket: reads its words, does what its session says, writes what waits.

The reader never waits for the writer, and the writer holds one message at a time: what a
slow client misses meanwhile is replaced by what is newest then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Protocol

from aiohttp import WSMsgType

from evergrid.gateway.access.request_error import UNFORESEEN
from evergrid.gateway.access.traffic_counters import Counts
from evergrid.gateway.engine.deliveries import Publication, Refused, Ticket, Told
from evergrid.gateway.live.delivery_router import Switchboard
from evergrid.gateway.live.live_session import Session
from evergrid.gateway.live.send_queue import Outbox
from evergrid.gateway.live.session_actions import Action, CloseWindow, End, MoveWindow, OpenWindow
from evergrid.gateway.live.stall_timer import STALL_SECONDS, TLS_STALL_SECONDS, Patience
from evergrid.gateway.live.websocket import Socket
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import Resume, State, Welcome, encode, failed
from evergrid.views.query import Query, Window

GOODBYE_SECONDS = 4.0  # for the last word to get out; then the socket is closed without it


class Windows(Protocol):
    """What a connection asks of the engine."""

    def open(self, ticket: Ticket, query: Query, window: Window, resume: Resume | None) -> None: ...
    def move(self, ticket: Ticket, window: Window) -> None: ...
    def close(self, ticket: Ticket) -> None: ...


class Connection:
    def __init__(
        self,
        session: Session,
        socket: Socket,
        windows: Windows,
        switchboard: Switchboard,
        counts: Counts,
    ) -> None:
        self._session = session
        self._socket = socket
        self._windows = windows
        self._switchboard = switchboard
        self._counts = counts
        self._outbox = Outbox()
        self._wake = asyncio.Event()
        self._end: End | None = None
        self._end_time = 0.0
        seconds = TLS_STALL_SECONDS if socket.encrypted else STALL_SECONDS
        self._patience = Patience(seconds, time.monotonic())

    async def run(self) -> None:
        """Until the client leaves or is shown out; nothing of it is left then."""
        writer = asyncio.create_task(self._write())
        try:
            await self._read()
        except Exception:
            self.end(Code.INTERNAL, UNFORESEEN)
            raise
        finally:
            for ticket in self._session.tickets:
                self._switchboard.give_back(ticket)
                self._windows.close(ticket)
            if self._end is not None:
                await asyncio.wait({writer}, timeout=GOODBYE_SECONDS)
            writer.cancel()
            await asyncio.wait({writer})
            self._socket.hang_up()
        if not writer.cancelled() and (error := writer.exception()):
            raise error

    # What comes from the client

    async def _read(self) -> None:
        while self._end is None:
            message = await self._socket.receive()
            now = time.monotonic()
            if message.type is WSMsgType.TEXT:
                self._counts.messages += 1
                self._do(self._session.receive(message.data, now))
            elif message.type is WSMsgType.BINARY:
                self.end(Code.NOT_TEXT, "messages to a gateway are JSON in text frames.")
            elif message.type in (WSMsgType.PING, WSMsgType.PONG):
                self._do(self._session.knock(now))
                if message.type is WSMsgType.PING:
                    await self._socket.answer_ping(message.data)
            else:
                if fault := self._socket.fault:
                    self._counts.ended[fault] += 1
                return

    # What comes from the engine

    def offer(self, ticket: Ticket, publication: Publication) -> None:
        self._outbox.offer(ticket, publication)

    def resume(self, ticket: Ticket, publication: Publication, sequence: int) -> None:
        self._outbox.resume(ticket, publication, sequence)

    def told(self, told: Told) -> None:
        self._do(self._session.told(told))

    def refused(self, refused: Refused) -> None:
        self._do(self._session.refused(refused))

    def wake(self) -> None:
        self._wake.set()

    # What comes with time

    def look(self, now: float) -> None:
        """Hearts, lateness, silence, and readers that stand still."""
        if self._end is not None:
            if now - self._end_time > GOODBYE_SECONDS:
                self._socket.hang_up()
            return
        waiting = self._socket.waiting
        if self._patience.look(waiting, now):
            if waiting:
                self._session.moved(now)
        elif self._patience.over(now):
            # Its socket is full: it could not even be told why.
            self.end(Code.TOO_SLOW, "nothing was read for too long.")
            self._socket.hang_up()
            return
        self._do(self._session.look(now, time.time_ns() // 1000))

    def end(self, code: Code, message: str) -> None:
        self._do(self._session.refuse(code, message))

    def hang_up(self) -> None:
        self._socket.hang_up()

    def _do(self, actions: Sequence[Action]) -> None:
        for action in actions:
            self._act(action)
        if actions:
            self._wake.set()

    def _act(self, action: Action) -> None:
        if isinstance(action, OpenWindow):
            self._outbox.open(action.ticket, action.sub)
            self._switchboard.take(action.ticket, self)
            self._windows.open(action.ticket, action.query, action.window, action.resume)
        elif isinstance(action, MoveWindow):
            self._outbox.move(action.ticket, action.window)
            self._windows.move(action.ticket, action.window)
        elif isinstance(action, CloseWindow):
            self._outbox.close(action.ticket, action.sub)
            self._switchboard.give_back(action.ticket)
            if action.heard:
                self._windows.close(action.ticket)
        elif isinstance(action, End):
            self._end = action
            self._end_time = time.monotonic()
            self._counts.ended[action.code] += 1
        elif isinstance(action.message, State):
            self._outbox.tell(action.message)
        else:
            self._counts.logins += isinstance(action.message, Welcome)
            if not self._outbox.say(encode(action.message)):
                self.end(Code.TOO_SLOW, "too many answers wait to be read.")

    # What goes to the client

    async def _write(self) -> None:
        try:
            while self._end is None:
                self._wake.clear()
                await self._empty()
                if self._end is None:
                    await self._wake.wait()
            await self._say_goodbye(self._end)
        except ConnectionError:
            return  # gone: the reader sees it too
        except Exception:
            self._socket.hang_up()
            raise

    async def _empty(self) -> None:
        """Words first, one frame at a time, and nothing more once it is over."""
        while self._end is None:
            if words := self._outbox.words():
                self._counts.words += 1
                text = words if isinstance(words, str) else encode(words)
                await self._socket.send_str(text)
            elif frame := self._outbox.frame():
                self._counts.frames += 1
                self._counts.frame_bytes += len(frame)
                await self._socket.send_bytes(frame)
            else:
                return

    async def _say_goodbye(self, end: End) -> None:
        while words := self._outbox.words():
            if isinstance(words, str):
                await self._socket.send_str(words)
        await self._socket.send_str(encode(failed(end.code, end.message)))
        await self._socket.close(code=end.code.close, message=end.code.value.encode())
