"""A server that does what no good gateway does, at the moment a test wants it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from aiohttp import web

from evergrid.protocol.messages import (
    PATH,
    SUBPROTOCOL,
    ClientMessage,
    Hello,
    Open,
    decode_client,
)
from tests.client.gateway_messages import welcome

KEY = "eg_stand-in"


class Talk:
    """One connection, from the server's side."""

    def __init__(self, socket: web.WebSocketResponse, number: int) -> None:
        self.socket = socket
        self.number = number

    async def hear(self) -> ClientMessage:
        return decode_client(await self.socket.receive_str())

    async def log_in(self, instance: str = "first", heart_seconds: float = 5.0) -> None:
        assert isinstance(await self.hear(), Hello)
        await self.say(welcome(instance, heart_seconds=heart_seconds))

    async def opened(self) -> Open:
        message = await self.hear()
        assert isinstance(message, Open), message
        return message

    async def say(self, text: str) -> None:
        await self.socket.send_str(text)

    async def show(self, frame: bytes) -> None:
        await self.socket.send_bytes(frame)

    async def until_gone(self) -> None:
        async for _ in self.socket:
            pass


Script = Callable[[Talk], Awaitable[None]]
Page = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def _no_tables(request: web.Request) -> web.StreamResponse:
    return web.json_response({"tables": []})


@contextlib.asynccontextmanager
async def fake_gateway(
    script: Script,
    *,
    tables: Page = _no_tables,
    rows: Page = _no_tables,
    live: Page | None = None,
    protocols: tuple[str, ...] = (SUBPROTOCOL,),
) -> AsyncIterator[str]:
    """Its address; `script` is played for each connection, unless `live` answers."""
    talks: list[Talk] = []

    async def played(request: web.Request) -> web.StreamResponse:
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        socket = web.WebSocketResponse(protocols=protocols, timeout=0.1)
        await socket.prepare(request)
        talks.append(Talk(socket, len(talks)))
        with contextlib.suppress(ConnectionError, TypeError):  # TypeError: the client has left
            await script(talks[-1])
        return socket

    application = web.Application()
    application.router.add_get("/api/tables", tables)
    application.router.add_get("/api/tables/{name}/rows", rows)
    application.router.add_get(PATH, live or played)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        [(host, port)] = runner.addresses
        yield f"http://{host}:{port}"
    finally:
        for talk in talks:
            with contextlib.suppress(asyncio.TimeoutError, ConnectionError):
                await talk.socket.close()
        await runner.cleanup()
