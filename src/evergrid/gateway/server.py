"""Starts a gateway's server, and stops it without leaving anything behind."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from evergrid.config.settings import Gateway
from evergrid.gateway.access.audit_log import AuditLog
from evergrid.gateway.access.auth_middleware import Log
from evergrid.gateway.access.connection_limiter import ConnectionLimiter
from evergrid.gateway.access.key_registry import KeyRegistry
from evergrid.gateway.access.origin_policy import check_binding
from evergrid.gateway.access.server_certificate import ServerCertificate
from evergrid.gateway.app import GatewayApp
from evergrid.gateway.engine.table_engine import TableEngine
from evergrid.gateway.http.assets import FOLDER, load
from evergrid.gateway.http.control_endpoint import ControlTopic
from evergrid.model.errors import ConfigError

BACKLOG = 4096  # connections that wait in the kernel; systems may allow fewer
# In one turn of the event loop: many who come at once take turns with everybody's updates, and
# each has its first request read before too many others are counted as silent.
ACCEPTED_AT_ONCE = 20
SHUTDOWN_SECONDS = 2.0


@dataclass(eq=False, repr=False)
class RunningGateway:
    """A gateway that serves; `address` is the URL to open or connect to."""

    address: str
    port: int
    engine: TableEngine
    app: GatewayApp
    listener: asyncio.Server
    runner: web.AppRunner
    tasks: Sequence[asyncio.Task[None]]

    @property
    def routes(self) -> tuple[str, ...]:
        """All paths that are served."""
        return tuple(self.app.routes())

    def __repr__(self) -> str:
        return f"<gateway at {self.address}>"

    async def stop(self) -> None:
        """Accept no more connections, end those that are open, then stop the engine."""
        self.listener.close()
        await self.app.live.shut_down()
        await _shut_down(self.runner)
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.app.close()
        await self.engine.stop()


async def _shut_down(runner: web.AppRunner) -> None:
    """Let requests finish, then abort all connections.

    Closing a TLS connection would wait for the peer's close notify, which an idle browser delays.
    """
    transports = (
        [handler.transport for handler in runner.server.connections] if runner.server else []
    )
    await runner.cleanup()
    for transport in transports:
        if transport is not None:
            transport.abort()
    await asyncio.sleep(0)  # the loop aborts them in its next turn


async def serve(
    gateway: Gateway,
    engine: TableEngine,
    keys: KeyRegistry,
    control: ControlTopic,
    audit: AuditLog,
    log: Log,
    web_app: Path = FOLDER,
) -> RunningGateway:
    """Serve the engine's tables until `stop` is called on the result; ConfigError if it cannot.

    `control` takes control messages, `audit` is closed by the caller, `web_app` is the folder of
    the built page.

    1. Bind: only then is the port known, and with it the allowed hosts and origins.
    2. Make the app, and start the engine.
    3. Listen.
    """
    check_binding(gateway)
    assets = load(web_app)
    limiter = ConnectionLimiter(gateway.limits)
    certificate = ServerCertificate(gateway.tls, log) if gateway.tls else None
    listener = await _bind(gateway, limiter, certificate)
    try:
        port = int(listener.sockets[0].getsockname()[1])
        app = GatewayApp(gateway, port, engine, keys, control, assets, audit, log)
        runner = web.AppRunner(
            app.application(limiter),
            handle_signals=False,
            shutdown_timeout=SHUTDOWN_SECONDS,
        )
        await runner.setup()
        limiter.start(runner.server, app.refusals)
        engine.start(app.live.router.deliver)
        work = [app.live.check(limiter), app.delays.measure(), keys.watch()]
        if certificate is not None:
            work.append(certificate.watch())
        tasks = [asyncio.create_task(one) for one in work]
        await listener.start_serving()
        _set_backlog(listener)
    except OSError as error:
        listener.close()
        raise _cannot_bind(gateway, error) from error
    except BaseException:
        listener.close()
        raise
    return RunningGateway(_address(gateway, port), port, engine, app, listener, runner, tasks)


async def _bind(
    gateway: Gateway, limiter: ConnectionLimiter, certificate: ServerCertificate | None
) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    context = certificate.context if certificate else None
    try:
        return await loop.create_server(
            limiter,
            gateway.host,
            gateway.port,
            ssl=context,
            ssl_handshake_timeout=gateway.limits.login_seconds if context else None,
            ssl_shutdown_timeout=SHUTDOWN_SECONDS if context else None,
            backlog=ACCEPTED_AT_ONCE,
            reuse_address=True,
            start_serving=False,
        )
    except OSError as error:
        raise _cannot_bind(gateway, error) from error


def _set_backlog(listener: asyncio.Server) -> None:
    """asyncio has one number for how many wait in the kernel and how many it accepts at once."""
    for one in listener.sockets:
        with socket.socket(fileno=os.dup(one.fileno())) as same:
            same.listen(BACKLOG)


def _cannot_bind(gateway: Gateway, error: OSError) -> ConfigError:
    where = f"{gateway.host}:{gateway.port}"
    if isinstance(error, socket.gaierror):
        return ConfigError(
            f"host name {gateway.host} cannot be resolved",
            where="gateway.host",
            remedy="Set it to an address of this machine, such as 127.0.0.1.",
        )
    if error.errno == errno.EADDRINUSE:
        return ConfigError(
            f"port {gateway.port} is in use by another program",
            where=where,
            remedy="Stop that program, or set gateway.port to another port (0: any free one).",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return ConfigError(
            f"permission denied: this user may not use port {gateway.port}",
            where=where,
            remedy="Set gateway.port to a port above 1023.",
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return ConfigError(
            f"{gateway.host} is not an address of this machine",
            where="gateway.host",
            remedy="Set it to one of its addresses, or to 127.0.0.1.",
        )
    return ConfigError(
        f"port {gateway.port} cannot be opened ({error.strerror or error})",
        where=where,
        remedy="Change gateway.host or gateway.port.",
    )


def _address(gateway: Gateway, port: int) -> str:
    scheme = "https" if gateway.tls else "http"
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(gateway.host, gateway.host)
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"{scheme}://{host}:{port}"
