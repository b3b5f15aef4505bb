"""Opens a gateway to the world, and closes it again without leaving anything behind."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from pathlib import Path

from aiohttp import web

from evergrid.config.settings import Gateway, GatewayLimits
from evergrid.gateway.access.auth_middleware import Say
from evergrid.gateway.access.connection_limiter import Reception, Threshold
from evergrid.gateway.access.origin_policy import check_binding
from evergrid.gateway.access.server_certificate import Certificate
from evergrid.gateway.app import Engine, House
from evergrid.gateway.http.assets import FOLDER, load
from evergrid.gateway.http.control_endpoint import ControlTopic
from evergrid.gateway.http.loop_delay import measure
from evergrid.gateway.live.session_context import KeyFinder
from evergrid.model.errors import BrokenPromise, ConfigError

BACKLOG = 1024
KEEPALIVE_SECONDS = 30.0
SHUTDOWN_SECONDS = 2.0
HEADER_ROOM = 1024

# Who serves tells people what they must know by `say`; stack traces are not among that.
_silence = logging.getLogger("evergrid.gateway.http")
_silence.setLevel(logging.CRITICAL + 1)  # not even put together
_silence.addHandler(logging.NullHandler())
_silence.propagate = False


class Running:
    """A gateway that serves; `address` is what to open or connect to."""

    def __init__(
        self, address: str, port: int, engine: Engine, house: House, listener: asyncio.Server
    ) -> None:
        self.address = address
        self.port = port
        self._engine = engine
        self._house = house
        self._listener = listener
        self._runner: web.AppRunner | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def routes(self) -> tuple[str, ...]:
        """Every path that is served."""
        return tuple(self._house.routes())

    def __repr__(self) -> str:
        return f"<a gateway at {self.address}>"

    async def begin(
        self, runner: web.AppRunner, threshold: Threshold, certificate: Certificate | None
    ) -> None:
        self._runner = runner
        self._engine.start(self._house.switchboard.deliver)
        self._tasks = [
            asyncio.create_task(self._house.guests.look_after(threshold)),
            asyncio.create_task(measure(self._house.delays)),
        ]
        if certificate is not None:
            self._tasks.append(asyncio.create_task(certificate.follow()))
        await self._listener.start_serving()

    async def stop(self) -> None:
        """Let nobody in, tell everybody, then stop the engine too."""
        self._listener.close()
        await self._house.guests.show_out()
        if self._runner is not None:
            await _end(self._runner)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._house.switchboard.close()
        self._house.close()
        await self._engine.stop()


async def _end(runner: web.AppRunner) -> None:
    """Let requests finish, then leave no connection open.

    A closed TLS connection would wait for its peer's goodbye, which an idle browser is late with.
    """
    transports = (
        [handler.transport for handler in runner.server.connections] if runner.server else []
    )
    await runner.cleanup()
    for transport in transports:
        if transport is not None:
            transport.abort()
    await asyncio.sleep(0)  # that is when they are


async def serve(
    gateway: Gateway,
    engine: Engine,
    keys: KeyFinder,
    control: ControlTopic,
    say: Say,
    web_app: Path = FOLDER,
) -> Running:
    """Serve the engine's tables until the answer's `stop`; ConfigError when that cannot be.

    `control` is where control messages go, `web_app` the folder of the built page.

    1. Bind: only then is the port known, and with it the names we go by.
    2. Put the house together, and start the engine.
    3. Listen.
    """
    check_binding(gateway)
    assets = load(web_app)
    entrance = _Entrance()
    certificate = Certificate(gateway.tls, say) if gateway.tls else None
    listener = await _bind(gateway, entrance, certificate)
    try:
        port = int(listener.sockets[0].getsockname()[1])
        house = House(gateway, port, engine, keys, control, assets, say)
        runner = web.AppRunner(
            house.app(entrance.spoke), handle_signals=False, shutdown_timeout=SHUTDOWN_SECONDS
        )
        await runner.setup()
        entrance.threshold = _threshold(runner, gateway.limits)
        running = Running(_address(gateway, port), port, engine, house, listener)
        await running.begin(runner, entrance.threshold, certificate)
    except OSError as error:
        listener.close()
        raise _cannot_bind(gateway, error) from error
    except BaseException:
        listener.close()
        raise
    return running


def _threshold(runner: web.AppRunner, limits: GatewayLimits) -> Threshold:
    server = runner.server
    if server is None:
        raise BrokenPromise("aiohttp made no server")
    loop = asyncio.get_running_loop()

    def reception() -> Reception:
        return Reception(
            server,
            loop=loop,
            access_log=_silence,
            logger=_silence,
            keepalive_timeout=KEEPALIVE_SECONDS,
            # A filter may be as long in an address as in a message.
            max_line_size=limits.message_bytes + HEADER_ROOM,
        )

    return Threshold(reception, lambda: len(server.connections), limits)


class _Entrance:
    """Stands where connections arrive until it is known who receives them."""

    def __init__(self) -> None:
        self.threshold: Threshold | None = None

    def __call__(self) -> asyncio.BaseProtocol:
        if self.threshold is None:
            raise ConnectionRefusedError("not open yet")
        return self.threshold()

    def spoke(self, request: web.Request) -> None:
        if self.threshold is not None:
            self.threshold.spoke(request.protocol)


async def _bind(
    gateway: Gateway, entrance: _Entrance, certificate: Certificate | None
) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    context = certificate.context if certificate else None
    try:
        return await loop.create_server(
            entrance,
            gateway.host,
            gateway.port,
            ssl=context,
            ssl_handshake_timeout=gateway.limits.login_seconds if context else None,
            ssl_shutdown_timeout=SHUTDOWN_SECONDS if context else None,
            backlog=BACKLOG,
            reuse_address=True,
            start_serving=False,
        )
    except OSError as error:
        raise _cannot_bind(gateway, error) from error


def _cannot_bind(gateway: Gateway, error: OSError) -> ConfigError:
    where = f"{gateway.host}:{gateway.port}"
    if isinstance(error, socket.gaierror):
        return ConfigError(
            f"the name {gateway.host} cannot be resolved",
            where="gateway.host",
            remedy="Set it to an address of this machine, such as 127.0.0.1.",
        )
    if error.errno == errno.EADDRINUSE:
        return ConfigError(
            f"port {gateway.port} is in use by another program",
            where=where,
            remedy="Stop that one, or set gateway.port to another (0 is any free one).",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return ConfigError(
            f"port {gateway.port} may not be used by this user",
            where=where,
            remedy="Set gateway.port to one above 1023.",
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return ConfigError(
            f"{gateway.host} is no address of this machine",
            where="gateway.host",
            remedy="Set it to one that is, or to 127.0.0.1.",
        )
    return ConfigError(
        f"port {gateway.port} cannot be opened ({error.strerror or error})",
        where=where,
        remedy="Set gateway.host and gateway.port to something that can.",
    )


def _address(gateway: Gateway, port: int) -> str:
    scheme = "https" if gateway.tls else "http"
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(gateway.host, gateway.host)
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"{scheme}://{host}:{port}"
