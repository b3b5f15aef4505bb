"""Rows of users_ui, and waiting for what a test expects of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from evergrid.client import AsyncClient, AsyncWindows, LiveWindow, Timeouts, Windows, connect_async
from tests.support.local_engine import Cell
from tests.support.local_gateway import LocalGateway

LIMIT = 60.0
QUICK = Timeouts(first_wait=0.02, longest_wait=0.2)
TIME = 1_767_225_600_123_456

Condition = Callable[[LiveWindow], bool]


def person(number: int, **cells: Cell) -> dict[str, Cell]:
    """A row whose id is 0:<number>."""
    return {
        "userId": f"u{number}",
        "name": f"P{number}",
        "email": None,
        "age": number,
        "ts": TIME + number,
        "_partition": 0,
        "_offset": number,
        "_unknown_fields": 0,
    } | cells


def ids(window: LiveWindow) -> list[object]:
    return column(window, "_id")


def column(window: LiveWindow, name: str) -> list[object]:
    """The values of a column; none while there are no rows yet."""
    values: list[object] = window.rows[name].to_pylist() if window.sequence else []
    return values


def until(windows: Windows, condition: Condition) -> LiveWindow:
    """The first window that fits."""
    deadline = time.monotonic() + LIMIT
    while True:
        window = windows.next(timeout=max(0.0, deadline - time.monotonic()))
        assert window is not None, "the windows ended"
        if condition(window):
            return window


async def until_async(windows: AsyncWindows, condition: Condition) -> LiveWindow:
    async with asyncio.timeout(LIMIT):
        async for window in windows:
            if condition(window):
                return window
    raise AssertionError("the windows ended")


@asynccontextmanager
async def connected(
    gateway: LocalGateway, timeouts: Timeouts = QUICK
) -> AsyncIterator[AsyncClient]:
    async with connect_async(gateway.address, gateway.secret, timeouts=timeouts) as client:
        yield client
