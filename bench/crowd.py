"""Viewers by the hundred: raw WebSockets that count frames, and probes that time them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import aiohttp
import msgspec

from bench.changes import newest_stamp
from bench.load import now_us
from evergrid.model.errors import LinkError
from evergrid.protocol.frames import decode
from evergrid.protocol.messages import (
    PATH,
    PROTOCOL,
    SUBPROTOCOL,
    Failed,
    Heart,
    Hello,
    Open,
    ServerHeart,
    decode_server,
    encode,
)
from evergrid.views.view_query import OrderBy

_AT_ONCE = 10  # handshakes under way in one process; a gateway lets few strangers in at once
_LOOK_SECONDS = 0.2


class Crowd(msgspec.Struct, frozen=True, tag=True):
    """So many viewers of the newest `rows` rows of a table, until the file `stop` exists."""

    address: str
    key: str
    table: str
    rows: int
    viewers: int
    stop: str


class Counted(msgspec.Struct, frozen=True):
    """Frames of each viewer, bytes of all, and how many were gone before the end."""

    frames: list[int]
    bytes: int
    gone: int


class Probes(Crowd, frozen=True, tag=True):
    """The same viewers, but each frame is timed."""


class Sight(msgspec.Struct, frozen=True):
    """When a frame was in hand, the newest beat in it, and when the gateway took that state."""

    arrived_us: int
    stamp_us: int
    state_us: int


class Probed(msgspec.Struct, frozen=True):
    """What each probe saw."""

    sights: list[list[Sight]]
    gone: int


def run_crowd(task: Crowd) -> Counted:
    frames = [0] * task.viewers
    size = 0

    def count(viewer: int, frame: bytes) -> None:
        nonlocal size
        frames[viewer] += 1
        size += len(frame)

    gone = asyncio.run(_look(task, count))
    return Counted(frames, size, gone)


def run_probes(task: Probes) -> Probed:
    sights: list[list[Sight]] = [[] for _ in range(task.viewers)]

    def note(viewer: int, frame: bytes) -> None:
        arrived = now_us()
        if stamp := newest_stamp(frame):
            sights[viewer].append(Sight(arrived, stamp, decode(frame).header.time))

    gone = asyncio.run(_look(task, note))
    return Probed(sights, gone)


async def _look(task: Crowd, see: Callable[[int, bytes], None]) -> int:
    """Look until told to stop; how many viewers had ended by themselves."""
    door = asyncio.Semaphore(_AT_ONCE)
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Authorization": f"Bearer {task.key}"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        viewers = [
            asyncio.create_task(_view(session, task, door, lambda frame, n=n: see(n, frame)))  # type: ignore[misc]
            for n in range(task.viewers)
        ]
        while not Path(task.stop).exists():
            await asyncio.sleep(_LOOK_SECONDS)
        gone = [viewer for viewer in viewers if viewer.done()]
        for viewer in viewers:
            viewer.cancel()
        await asyncio.wait(viewers)
    for viewer in gone:
        viewer.result()  # raises why it ended, if there was a reason
    return len(gone)


async def _view(
    session: aiohttp.ClientSession,
    task: Crowd,
    door: asyncio.Semaphore,
    see: Callable[[bytes], None],
) -> None:
    async with door:
        socket = await session.ws_connect(task.address + PATH, protocols=(SUBPROTOCOL,))
        await socket.send_str(encode(Hello(PROTOCOL)))
        newest = (OrderBy("ts", descending=True),)
        await socket.send_str(encode(Open(1, task.table, order=newest, limit=task.rows)))
    async for message in socket:
        if message.type is aiohttp.WSMsgType.BINARY:
            see(message.data)
        elif message.type is aiohttp.WSMsgType.TEXT:
            words = decode_server(message.data)
            if isinstance(words, ServerHeart):
                await socket.send_str(encode(Heart()))
            elif isinstance(words, Failed):
                raise LinkError(f"a viewer was told {words.code}: {words.message}")
