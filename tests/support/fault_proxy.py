"""A TCP proxy to a server on this machine that behaves as badly as a network can.

with FaultProxy(port) as way:
    connect(way.address)
    way.hold()                  # from now on nothing passes, and nobody is told
    way.heal()

It runs in a thread of its own; its methods may be called from any other and have happened
when they return. Bytes are passed on without buffers beyond the kernel's small ones, so that
who sends too much feels it.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import socket
import struct
from collections.abc import Callable, Coroutine, Mapping
from typing import Self, TypeVar

from evergrid.client.blocking_client import LoopThread

Answer = TypeVar("Answer")

HOST = "127.0.0.1"

_PIECE = 16_384
_BUFFER = 65_536
_ON_THE_WAY = 64  # pieces that a delay may hold back
_TICKS = 20  # a second, when bytes are counted
_END_SECONDS = 0.1
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER of no time at all: closing says RST


class Direction(enum.Flag):
    """The direction of bytes: to the server, to the client."""

    UP = enum.auto()
    DOWN = enum.auto()
    BOTH = UP | DOWN


class FaultProxy:
    """Forwards every connection to `port`, with the faults that are set.

    Faults apply to all connections, including later ones.
    """

    def __init__(self, port: int, host: str = HOST) -> None:
        self._to = (host, port)
        self._lanes = {Direction.UP: _Lane(), Direction.DOWN: _Lane()}
        self._needles: dict[bytes, asyncio.Event] = {}  # set while what they mark may pass
        self._pairs: set[_Pair] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None
        self._refusing = False
        self._background = LoopThread()
        self._listener = _listener()
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def open(self) -> int:
        """The open connections."""
        return self._call(lambda: len(self._pairs))

    # Faults

    def cut(self) -> None:
        """Close every connection, as a stopping server does."""
        self._call(lambda: self._end(reset=False))

    def reset(self) -> None:
        """Reset every connection, as a restarted machine does."""
        self._call(lambda: self._end(reset=True))

    def hold(self, way: Direction = Direction.BOTH) -> None:
        """Forward nothing: connections stay open, and new ones are accepted."""
        self._set(way, lambda lane: lane.clear.clear())

    def mark(self, needle: bytes) -> None:
        """Mark each connection whose client sends these bytes in one piece."""
        self._call(lambda: self._needles.setdefault(needle, _set_event()))

    def hold_marked(self, needle: bytes) -> None:
        """Forward nothing on marked connections, including those marked later."""
        self._call(lambda: self._needles[needle].clear())

    def delay(self, seconds: float, way: Direction = Direction.BOTH) -> None:
        """Delay all bytes by this long, in order."""
        self._set(way, lambda lane: vars(lane).update(delay=seconds))

    def limit(self, bytes_per_second: int, way: Direction = Direction.BOTH) -> None:
        """Limit the rate of each connection."""
        self._set(way, lambda lane: vars(lane).update(rate=bytes_per_second))

    def break_after(self, count: int, way: Direction, *, reset: bool = True) -> None:
        """Forward this many more bytes, then close the connection of the last one."""
        self._set(way, lambda lane: vars(lane).update(left=count, reset=reset))

    def refuse(self) -> None:
        """Refuse new connections."""
        self._call(lambda: setattr(self, "_refusing", True))

    def heal(self) -> None:
        """Remove all faults; held bytes are forwarded, closed connections stay closed."""

        def restore() -> None:
            self._refusing = False
            for lane in self._lanes.values():
                lane.heal()
            for clear in self._needles.values():
                clear.set()

        self._call(restore)

    # Its life

    def __enter__(self) -> Self:
        self._accepting = self._call(lambda: self._begin(self._accept()))
        return self

    def __exit__(self, *_: object) -> None:
        self._background.stop(self._stop)

    async def _stop(self) -> None:
        if self._accepting is not None:
            self._accepting.cancel()
        while self._tasks:  # one that was just being made is ended in the next round
            self._end(reset=False)
            await asyncio.wait(self._tasks, timeout=_END_SECONDS)
        self._listener.close()

    def _call(self, act: Callable[[], Answer]) -> Answer:
        """Run it on the loop's thread and wait for it."""

        async def run() -> Answer:
            return act()

        return self._background.call(run)

    def _set(self, way: Direction, change: Callable[[_Lane], None]) -> None:
        def act() -> None:
            for one, lane in self._lanes.items():
                if one in way:
                    change(lane)

        self._call(act)

    def _begin(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _end(self, *, reset: bool) -> None:
        for pair in list(self._pairs):
            pair.end(reset=reset)

    # Connections

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(self._listener)
            client.setblocking(False)
            self.connections += 1
            if self._refusing:
                _close(client, reset=True)
            else:
                self._begin(self._pass_on(client))

    async def _pass_on(self, client: socket.socket) -> None:
        server = _socket()
        try:
            await asyncio.get_running_loop().sock_connect(server, self._to)
        except OSError:
            _close(server, reset=False)
            _close(client, reset=True)
            return
        pair = _Pair(client, server, self._needles)
        self._pairs.add(pair)
        try:
            await pair.run(self._lanes)
        finally:
            self._pairs.discard(pair)


class _Lane:
    """The faults of one direction."""

    def __init__(self) -> None:
        self.clear = asyncio.Event()
        self.heal()

    def heal(self) -> None:
        self.delay = 0.0
        self.rate = 0
        self.left: int | None = None
        self.reset = True
        self.clear.set()

    @property
    def piece(self) -> int:
        return min(_PIECE, max(1, self.rate // _TICKS)) if self.rate else _PIECE


class _Pair:
    """Both ends of one connection."""

    def __init__(
        self,
        client: socket.socket,
        server: socket.socket,
        needles: Mapping[bytes, asyncio.Event],
    ) -> None:
        self._client = client
        self._server = server
        self._needles = needles
        self._marks: set[bytes] = set()
        self._work: asyncio.Task[None] | None = None
        self._reset = False

    async def run(self, lanes: dict[Direction, _Lane]) -> None:
        """Forward until both sides have closed, or it is closed."""
        self._work = asyncio.create_task(self._carry(lanes))
        await asyncio.wait({self._work})
        if not self._work.cancelled() and self._work.exception() is not None:
            self._reset = True  # one side broke off: so does the other
        for end in (self._client, self._server):
            _close(end, reset=self._reset)

    def end(self, *, reset: bool) -> None:
        self._reset = reset
        if self._work is not None:
            self._work.cancel()

    async def _carry(self, lanes: dict[Direction, _Lane]) -> None:
        async with asyncio.TaskGroup() as group:
            for way, source, target in (
                (Direction.UP, self._client, self._server),
                (Direction.DOWN, self._server, self._client),
            ):
                pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_ON_THE_WAY)
                group.create_task(self._take(source, lanes[way], pieces))
                group.create_task(self._give(target, lanes[way], pieces))

    async def _take(
        self, source: socket.socket, lane: _Lane, pieces: asyncio.Queue[tuple[float, bytes]]
    ) -> None:
        loop = asyncio.get_running_loop()
        piece = b"?"
        while piece:
            await lane.clear.wait()
            piece = await loop.sock_recv(source, lane.piece)
            await pieces.put((loop.time() + lane.delay, piece))

    async def _give(
        self, target: socket.socket, lane: _Lane, pieces: asyncio.Queue[tuple[float, bytes]]
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(due - loop.time())
            if target is self._server:
                self._marks |= {needle for needle in self._needles if needle in piece}
            await lane.clear.wait()
            for mark in sorted(self._marks):
                await self._needles[mark].wait()
            if not piece:
                with contextlib.suppress(OSError):
                    target.shutdown(socket.SHUT_WR)
                return
            while piece:
                part = piece[: lane.piece]
                piece = piece[len(part) :]
                await self._send(target, lane, part)

    async def _send(self, target: socket.socket, lane: _Lane, part: bytes) -> None:
        if lane.left is not None:
            part = part[: lane.left]
            lane.left -= len(part)
        await asyncio.get_running_loop().sock_sendall(target, part)
        if lane.left == 0:
            lane.left = None
            self.end(reset=lane.reset)
        # Also the way out for `end`: without a pause a cancelled task goes on sending.
        await asyncio.sleep(len(part) / lane.rate if lane.rate else 0)


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def _socket() -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _listener() -> socket.socket:
    """Connections inherit its buffers."""
    made = _socket()
    made.bind((HOST, 0))
    made.listen(1024)
    return made


def _close(end: socket.socket, *, reset: bool) -> None:
    if reset:
        with contextlib.suppress(OSError):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    end.close()
