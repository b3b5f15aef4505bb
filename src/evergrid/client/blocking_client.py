"""The client for programs without an event loop: the same calls, which wait."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

import pyarrow as pa

from evergrid.client.async_client import AsyncClient, connect_async
from evergrid.client.async_windows import AsyncChanges, AsyncWindows
from evergrid.client.filters import Columns, Order, Where
from evergrid.client.live_window import LiveWindow
from evergrid.client.loop_thread import Background
from evergrid.client.sent_message import Asked
from evergrid.client.table_description import TableDescription
from evergrid.client.timeouts import Patience
from evergrid.client.window_changes import Change
from evergrid.protocol.messages import DEFAULT_LIMIT

Item = TypeVar("Item", covariant=True)


class _Stream(Protocol[Item]):
    async def next(self) -> Item | None: ...
    async def move(self, offset: int, limit: int = ...) -> None: ...
    async def close(self) -> None: ...


class Stream(Iterator[Item], Generic[Item]):
    """Iterates over what comes, waiting for it; may be closed from another thread."""

    def __init__(self, client: Client, background: Background, stream: _Stream[Item]) -> None:
        self._client = client  # held, because a client that nobody holds is closed
        self._background = background
        self._stream = stream

    def __next__(self) -> Item:
        item = self.next()
        if item is None:
            raise StopIteration
        return item

    def next(self, timeout: float | None = None) -> Item | None:
        """The next one; None once closed. TimeoutError after `timeout` seconds without any."""
        return self._background.call(lambda: self._within(timeout))

    async def _within(self, timeout: float | None) -> Item | None:
        # On the loop, where giving up and taking cannot happen at once.
        async with asyncio.timeout(timeout):
            return await self._stream.next()

    def move(self, offset: int, limit: int = DEFAULT_LIMIT) -> None:
        """Look at another slice of the same view."""
        self._background.call(lambda: self._stream.move(offset, limit))

    def close(self) -> None:
        """No more of it."""
        if self._background.running:
            self._background.call(self._stream.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Windows(Stream[LiveWindow]):
    """The states of one window, each newer than the one before."""

    def __init__(self, client: Client, background: Background, windows: AsyncWindows) -> None:
        super().__init__(client, background, windows)
        self._windows = windows

    @property
    def newest(self) -> LiveWindow:
        """The window as it is known now, without waiting."""
        return self._windows.newest


class Changes(Stream[Change]):
    """What happens to the rows of one window: first those that are there, as added."""

    def __init__(self, client: Client, background: Background, changes: AsyncChanges) -> None:
        super().__init__(client, background, changes)
        self._changes = changes

    @property
    def newest(self) -> LiveWindow:
        """The window that the changes are of, as it is known now."""
        return self._changes.windows.newest


class Client:
    """A gateway's tables: what there is, all rows of one, and live windows.

    Runs in a thread of its own, which is there until `close()` or the end of `with`.
    Threads may share a client.
    """

    def __init__(self, background: Background, client: AsyncClient) -> None:
        self._background = background
        self._client = client
        self._ending = weakref.finalize(self, background.stop, client.close)

    def tables(self) -> list[TableDescription]:
        """The tables that the key may read, by name."""
        return self._background.call(self._client.tables)

    def table(self, name: str) -> TableDescription:
        """One table: its schema, how many rows, how it is."""
        return self._background.call(lambda: self._client.table(name))

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
        """Rows of a table as they are at one moment; all of them without a limit."""
        return self._background.call(
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
        """The rows `offset` to `offset + limit` of a view, again whenever they change.

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

        return Windows(self, self._background, self._background.call(opened))

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
        """Row by row what comes into such a window, changes in it and leaves it."""

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

        return Changes(self, self._background, self._background.call(opened))

    def ask(self, **fields: str) -> Asked:
        """Send a control message, such as `ask(usersTopic="users_v2", joinType="left")`.

        It is on its topic when this returns; what becomes of it, `control_raw` says.
        """
        return self._background.call(lambda: self._client.ask(**fields))

    def close(self) -> None:
        """End every window, the connection and the thread."""
        self._ending()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def connect(
    url: str,
    key: str | None = None,
    *,
    ca: str | Path | None = None,
    patience: Patience = Patience(),
) -> Client:
    """A client for the gateway at `url`, with `key` or the one in EVERGRID_KEY.

    `ca` is a PEM file with the authority of the gateway's certificate, when it is not one
    that the system knows. Asks the gateway for its tables first, so that a wrong address or
    key is said here and not at the first use.
    """
    connecting = connect_async(url, key, ca=ca, patience=patience)
    background = Background()
    try:
        client = background.call(connecting.connected)
    except BaseException:
        background.stop()
        raise
    return Client(background, client)
