"""Live windows and their changes as asynchronous iterators."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import AsyncIterator

import pyarrow as pa

from evergrid.client.context_managers import AsyncClosing
from evergrid.client.live_connection import LiveConnection
from evergrid.client.live_window import LiveWindow
from evergrid.client.subscription import Subscription
from evergrid.client.window_changes import Change, changes_between
from evergrid.protocol.messages import DEFAULT_LIMIT
from evergrid.views.view_query import Query, Window


class AsyncWindows(AsyncClosing, AsyncIterator[LiveWindow]):
    """The states of one window, each newer than the one before.

    A slow reader gets the newest state and not those in between. The iteration ends when the
    window is closed, and raises its error if it fails. A window without references is closed,
    so that a loop that was left by `break` does not keep it open on the gateway.
    """

    def __init__(self, connection: LiveConnection, query: Query, window: Window) -> None:
        self._connection = connection
        self._update = asyncio.Event()
        self._subscription = connection.open(query, window, self._update)
        loop = asyncio.get_running_loop()
        weakref.finalize(self, _close_unused, loop, connection, self._subscription).atexit = False

    async def __anext__(self) -> LiveWindow:
        window = await self.next()
        if window is None:
            raise StopAsyncIteration
        return window

    async def next(self) -> LiveWindow | None:
        """The next state; None once closed. A cancelled call loses nothing."""
        subscription = self._subscription
        while True:
            self._update.clear()
            if subscription.closed:
                return None
            if (window := subscription.take()) is not None:
                return window
            if subscription.failure is not None:
                raise subscription.failure
            await self._update.wait()

    @property
    def newest(self) -> LiveWindow:
        """The newest known state, without waiting."""
        return self._subscription.newest()

    async def move(self, offset: int, limit: int = DEFAULT_LIMIT) -> None:
        """Show another slice. States of the slice before may still come first: see `offset`."""
        self._connection.move(self._subscription, Window(offset, limit))

    async def close(self) -> None:
        self._connection.close_window(self._subscription)


def _close_unused(
    loop: asyncio.AbstractEventLoop, connection: LiveConnection, subscription: Subscription
) -> None:
    """Called on the thread that dropped the last reference."""
    if not subscription.ended and not loop.is_closed():
        loop.call_soon_threadsafe(connection.close_window, subscription)


class AsyncChanges(AsyncClosing, AsyncIterator[Change]):
    """The changes of one window's rows; the rows of its first state come as added.

    Changes are those between the states that the reader took: a row that changed twice between
    two of them comes once.
    """

    def __init__(self, windows: AsyncWindows) -> None:
        self.windows = windows
        self._seen: pa.Table | None = None
        self._ready: deque[Change] = deque()

    async def __anext__(self) -> Change:
        change = await self.next()
        if change is None:
            raise StopAsyncIteration
        return change

    async def next(self) -> Change | None:
        """The next change; None once closed."""
        while not self._ready:
            window = await self.windows.next()
            if window is None:
                return None
            if window.sequence:
                self._ready.extend(changes_between(self._seen, window.rows))
                self._seen = window.rows
        return self._ready.popleft()

    async def move(self, offset: int, limit: int = DEFAULT_LIMIT) -> None:
        """Show another slice; rows that are not in it come as removed."""
        await self.windows.move(offset, limit)

    async def close(self) -> None:
        self._ready.clear()
        await self.windows.close()
