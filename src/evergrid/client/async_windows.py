"""Live windows and their changes as asynchronous iterators."""

from __future__ import annotations

import abc
import asyncio
import weakref
from collections import deque
from collections.abc import AsyncIterator
from typing import Generic, Self, TypeVar

import pyarrow as pa

from evergrid.client.live_connection import LiveConnection
from evergrid.client.live_protocol import LiveProtocol
from evergrid.client.live_window import Change, LiveWindow, changes_between
from evergrid.client.subscription import Subscription
from evergrid.protocol.messages import DEFAULT_LIMIT
from evergrid.views.view_query import Query, Window

Item = TypeVar("Item", covariant=True)


class AsyncStream(AsyncIterator[Item], Generic[Item]):
    """States or changes of a window as they come; closed at the end of `async with`.

    A stream without references is closed, so that a loop that was left by `break` does not keep
    its window open on the gateway.
    """

    def __init__(self, connection: LiveConnection, query: Query, window: Window) -> None:
        self._protocol = connection.protocol
        self._update = asyncio.Event()
        self._subscription = self._protocol.open(query, window, self._update.set)
        connection.start()
        loop = asyncio.get_running_loop()
        finalizer = weakref.finalize(self, _close_unused, loop, self._protocol, self._subscription)
        finalizer.atexit = False

    @abc.abstractmethod
    async def next(self) -> Item | None:
        """The next item; None once closed. A cancelled call loses nothing."""

    @property
    def newest(self) -> LiveWindow:
        """The newest known state of the window, without waiting."""
        return self._subscription.newest()

    async def move(self, offset: int, limit: int = DEFAULT_LIMIT) -> None:
        """Show another slice. States of the slice before may still come first: see `offset`."""
        self._protocol.move(self._subscription, Window(offset, limit))

    async def close(self) -> None:
        self._protocol.close(self._subscription)

    async def _next_window(self) -> LiveWindow | None:
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

    async def __anext__(self) -> Item:
        item = await self.next()
        if item is None:
            raise StopAsyncIteration
        return item

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _close_unused(
    loop: asyncio.AbstractEventLoop, protocol: LiveProtocol, subscription: Subscription
) -> None:
    """Called on the thread that dropped the last reference."""
    if not subscription.ended and not loop.is_closed():
        loop.call_soon_threadsafe(protocol.close, subscription)


class AsyncWindows(AsyncStream[LiveWindow]):
    """The states of one window, each newer than the one before.

    A slow reader gets the newest state and not those in between. The iteration ends when the
    window is closed, and raises its error if it fails.
    """

    async def next(self) -> LiveWindow | None:
        return await self._next_window()


class AsyncChanges(AsyncStream[Change]):
    """The changes of one window's rows; the rows of its first state come as added.

    Changes are those between the states that the reader took: a row that changed twice between
    two of them comes once. After a move, rows that are not in the new slice come as removed.
    """

    def __init__(self, connection: LiveConnection, query: Query, window: Window) -> None:
        super().__init__(connection, query, window)
        self._seen: pa.Table | None = None
        self._ready: deque[Change] = deque()

    async def next(self) -> Change | None:
        while not self._ready:
            window = await self._next_window()
            if window is None:
                return None
            if window.sequence:
                self._ready.extend(changes_between(self._seen, window.rows))
                self._seen = window.rows
        return self._ready.popleft()

    async def close(self) -> None:
        self._ready.clear()
        await super().close()
