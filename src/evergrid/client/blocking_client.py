"""The blocking client: the calls of the asynchronous client, for programs without a loop."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import pyarrow as pa

from evergrid.client.async_client import AsyncClient, connect_async
from evergrid.client.async_windows import AsyncChanges, AsyncWindows
from evergrid.client.context_managers import Closing
from evergrid.client.filters import Columns, Order, Where
from evergrid.client.http_client import Asked
from evergrid.client.live_window import LiveWindow
from evergrid.client.loop_thread import LoopThread
from evergrid.client.table_description import TableDescription
from evergrid.client.timeouts import Patience
from evergrid.client.window_changes import Change
from evergrid.protocol.messages import DEFAULT_LIMIT

Item = TypeVar("Item", covariant=True)


class _AsyncStream(Protocol[Item]):
    async def next(self) -> Item | None: ...
    async def move(self, offset: int, limit: int = ...) -> None: ...
    async def close(self) -> None: ...


class Stream(Closing, Iterator[Item], Generic[Item]):
    """Iterates over states or changes as they come; may be closed from another thread."""

    def __init__(self, client: Client, loop_thread: LoopThread, stream: _AsyncStream[Item]) -> None:
        self._client = client  # a reference, because a client without one is closed
        self._loop = loop_thread
        self._stream = stream

    def __next__(self) -> Item:
        item = self.next()
        if item is None:
            raise StopIteration
        return item

    def next(self, timeout: float | None = None) -> Item | None:
        """The next item; None once closed. TimeoutError after `timeout` seconds without one."""
        return self._loop.call(lambda: self._within(timeout))

    async def _within(self, timeout: float | None) -> Item | None:
        # On the loop, where a timeout cannot happen between taking and returning an item.
        async with asyncio.timeout(timeout):
            return await self._stream.next()

    def move(self, offset: int, limit: int = DEFAULT_LIMIT) -> None:
        """Show another slice of the same view."""
        self._loop.call(lambda: self._stream.move(offset, limit))

    def close(self) -> None:
        if self._loop.running:
            self._loop.call(self._stream.close)


class Windows(Stream[LiveWindow]):
    """The states of one window, each newer than the one before."""

    def __init__(self, client: Client, loop_thread: LoopThread, windows: AsyncWindows) -> None:
        super().__init__(client, loop_thread, windows)
        self._windows = windows

    @property
    def newest(self) -> LiveWindow:
        """The newest known state, without waiting."""
        return self._windows.newest


class Changes(Stream[Change]):
    """The changes of one window's rows; the rows of its first state come as added."""

    def __init__(self, client: Client, loop_thread: LoopThread, changes: AsyncChanges) -> None:
        super().__init__(client, loop_thread, changes)
        self._changes = changes

    @property
    def newest(self) -> LiveWindow:
        """The newest known state of the window."""
        return self._changes.windows.newest


class Client(Closing):
    """The tables of a gateway: descriptions, snapshots and live windows.

    Has a thread of its own until `close()` or the end of `with`. Threads may share a client.
    """

    def __init__(self, loop_thread: LoopThread, client: AsyncClient) -> None:
        self._loop = loop_thread
        self._client = client
        self._finalizer = weakref.finalize(self, loop_thread.stop, client.close)

    def tables(self) -> list[TableDescription]:
        """The tables that the key may read, by name."""
        return self._loop.call(self._client.tables)

    def table(self, name: str) -> TableDescription:
        """One table: its columns, its size, and its state."""
        return self._loop.call(lambda: self._client.table(name))

    def snapshot(
        self,
        table: str,
        *,
        columns: Columns | None = None,
        where: Where = None,
        search: str = "",
        order: Order | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> pa.Table:
        """The rows of a table at one moment; all of them without a limit."""
        return self._loop.call(
            lambda: self._client.snapshot(
                table,
                columns=columns,
                where=where,
                search=search,
                order=order,
                offset=offset,
                limit=limit,
            )
        )

    def windows(
        self,
        table: str,
        *,
        columns: Columns | None = None,
        where: Where = None,
        search: str = "",
        order: Order | None = None,
        offset: int = 0,
        limit: int = DEFAULT_LIMIT,
    ) -> Windows:
        """The rows `offset` to `offset + limit` of a view, each time they change.

        A negative offset counts from the end and moves with it.
        """

        async def opened() -> AsyncWindows:
            return self._client.windows(
                table,
                columns=columns,
                where=where,
                search=search,
                order=order,
                offset=offset,
                limit=limit,
            )

        return Windows(self, self._loop, self._loop.call(opened))

    def changes(
        self,
        table: str,
        *,
        columns: Columns | None = None,
        where: Where = None,
        search: str = "",
        order: Order | None = None,
        offset: int = 0,
        limit: int = DEFAULT_LIMIT,
    ) -> Changes:
        """The rows that enter such a window, change in it and leave it."""

        async def opened() -> AsyncChanges:
            return self._client.changes(
                table,
                columns=columns,
                where=where,
                search=search,
                order=order,
                offset=offset,
                limit=limit,
            )

        return Changes(self, self._loop, self._loop.call(opened))

    def ask(self, **fields: str) -> Asked:
        """Send a control message, such as `ask(usersTopic="users_v2", joinType="left")`.

        It is on the control topic when this returns; its verdict will be in `control_raw`.
        """
        return self._loop.call(lambda: self._client.ask(**fields))

    def close(self) -> None:
        """End every window, the connection and the thread."""
        self._finalizer()


def connect(
    url: str,
    key: str | None = None,
    *,
    ca: str | Path | None = None,
    patience: Patience = Patience(),
) -> Client:
    """A client for the gateway at `url`, with `key` or the one in EVERGRID_KEY.

    `ca` is a PEM file with the authority that signed the gateway's certificate, if the system
    does not trust it. Requests the list of tables first, so that a wrong address or key fails
    here and not at the first use.
    """
    connecting = connect_async(url, key, ca=ca, patience=patience)
    loop_thread = LoopThread()
    try:
        client = loop_thread.call(connecting.connect)
    except BaseException:
        loop_thread.stop()
        raise
    return Client(loop_thread, client)
