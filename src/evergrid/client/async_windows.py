"""Live windows and their changes, to be iterated over on an event loop."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

import pyarrow as pa

from evergrid.client.live_connection import Link
from evergrid.client.live_window import LiveWindow
from evergrid.client.subscription import Subscription
from evergrid.client.window_changes import Change, between
from evergrid.protocol.messages import DEFAULT_LIMIT
from evergrid.views.query import Query, Window


class AsyncWindows(AsyncIterator[LiveWindow]):
    """The states of one window, each newer than the one before.

    Who takes long between two gets the newest, not all in between. It ends when it is
    closed, and raises what made it impossible. One that nobody holds any more is closed too:
    a loop that was left by `break` must not cost the gateway a window for ever.
    """

    def __init__(self, link: Link, query: Query, window: Window) -> None:
        self._link = link
        self._news = asyncio.Event()
        self._subscription = link.open(query, window, self._news)
        loop = asyncio.get_running_loop()
        weakref.finalize(self, _leave, loop, link, self._subscription).atexit = False

    async def __anext__(self) -> LiveWindow:
        window = await self.next()
        if window is None:
            raise StopAsyncIteration
        return window

    async def next(self) -> LiveWindow | None:
        """The next state; None once closed. Giving up waiting for it loses nothing."""
        subscription = self._subscription
        while True:
            self._news.clear()
            if subscription.closed:
                return None
            if (window := subscription.take()) is not None:
                return window
            if subscription.failure is not None:
                raise subscription.failure
            await self._news.wait()

    @property
    def newest(self) -> LiveWindow:
        """The window as it is known now, without waiting."""
        return self._subscription.now()

    async def move(self, offset: int, limit: int = DEFAULT_LIMIT) -> None:
        """Look at another slice. States of the one before may still come first: see `offset`."""
        self._link.move(self._subscription, Window(offset, limit))

    async def close(self) -> None:
        self._link.leave(self._subscription)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _leave(loop: asyncio.AbstractEventLoop, link: Link, subscription: Subscription) -> None:
    """From whichever thread let go of the last reference."""
    if not subscription.over and not loop.is_closed():
        loop.call_soon_threadsafe(link.leave, subscription)


class AsyncChanges(AsyncIterator[Change]):
    """What happens to the rows of one window: first those that are there, as added.

    Changes lead from each state that was looked at to the next; a row that changed twice
    in between is told once.
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
                self._ready.extend(between(self._seen, window.rows))
                self._seen = window.rows
        return self._ready.popleft()

    async def move(self, offset: int, limit: int = DEFAULT_LIMIT) -> None:
        """Another slice: rows that are not in it are told as removed."""
        await self.windows.move(offset, limit)

    async def close(self) -> None:
        self._ready.clear()
        await self.windows.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
