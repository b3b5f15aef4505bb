"""`evergrid gateway`: the tables in memory, served to clients, until a signal stops it."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time

from evergrid.changelog.control_topic import ControlTopic
from evergrid.cli.exit_codes import Stopped, force_exit_later
from evergrid.cli.service_log import say, start_log
from evergrid.config.settings import Settings
from evergrid.gateway.access.audit_log import AuditLog
from evergrid.gateway.access.key_registry import KeyRegistry
from evergrid.gateway.engine.threaded_engine import ThreadedEngine
from evergrid.gateway.server import serve
from evergrid.process import child_process
from evergrid.process.open_files import raise_open_files

_POLL_SECONDS = 0.2
_PROGRESS_SECONDS = 5.0


def run(settings: Settings, _options: argparse.Namespace) -> int:
    start_log(settings.log, "gateway")
    os.umask(child_process.PRIVATE)
    asyncio.run(_serve(settings))
    raise Stopped


async def _serve(settings: Settings) -> None:
    gateway = settings.gateway
    raise_open_files(gateway.limits.connections + gateway.limits.strangers, say)
    audit = AuditLog(gateway.audit, say)
    keys = KeyRegistry(gateway.keys, say, changed=audit.key_changed)
    engine = ThreadedEngine(settings, say)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    running = await serve(gateway, engine, keys, ControlTopic(settings), audit, say)
    try:
        names = keys.names
        users = f"key {names[0]}" if len(names) == 1 else f"{len(names)} keys"
        say(f"Serving at {running.address} for {users}.")
        progress = asyncio.create_task(_report_loading(engine))
        waits = [asyncio.create_task(engine.failed()), asyncio.create_task(stopped.wait())]
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in (progress, *waits):
            task.cancel()
        for task in done:
            task.result()
    finally:
        force_exit_later()
        await running.stop()
        await asyncio.to_thread(audit.close)


async def _report_loading(engine: ThreadedEngine) -> None:
    """Say how far loading is, and once that every table is loaded."""
    due = time.monotonic() + 1.0
    while not engine.load().ready:
        await asyncio.sleep(_POLL_SECONDS)
        if time.monotonic() >= due:
            due = time.monotonic() + _PROGRESS_SECONDS
            say(engine.load().message)
    tables = await engine.tables()
    rows = sum(table.rows for table in tables)
    say(f"Ready: {rows:,} rows in {', '.join(table.name for table in tables)}.")
