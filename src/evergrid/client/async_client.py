"""The client for programs with an event loop."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
import pyarrow as pa

from evergrid.client.address import Address, address
from evergrid.client.async_windows import AsyncChanges, AsyncWindows
from evergrid.client.errors import Closed
from evergrid.client.filters import Columns, Order, Where, query_of
from evergrid.client.http_client import Asker
from evergrid.client.live_connection import Link
from evergrid.client.sent_message import Asked
from evergrid.client.table_description import TableDescription
from evergrid.client.timeouts import Patience
from evergrid.protocol.messages import DEFAULT_LIMIT
from evergrid.views.query import Window


class AsyncClient:
    """A gateway's tables: what there is, all rows of one, and live windows.

    Windows share one connection, which is made when the first is opened and made again
    whenever it breaks. To be used on the event loop it was made on.
    """

    def __init__(self, address: Address, patience: Patience) -> None:
        connector = aiohttp.TCPConnector(ssl=address.tls())
        self._session = aiohttp.ClientSession(connector=connector)
        self._asker = Asker(self._session, address, patience)
        self._link = Link(self._session, address, patience)
        self._address = address
        self._closed = False

    async def tables(self) -> list[TableDescription]:
        """The tables that the key may read, by name."""
        self._check()
        return await self._asker.tables()

    async def table(self, name: str) -> TableDescription:
        """One table: its schema, how many rows, how it is."""
        self._check()
        return await self._asker.table(name)

    async def snapshot(
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
        self._check()
        query = query_of(table, columns, where, search, order)
        return await self._asker.rows(query, offset, limit)

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
    ) -> AsyncWindows:
        """The rows `offset` to `offset + limit` of a view, again whenever they change.

        A negative offset counts from the end and moves with it.
        """
        self._check()
        query = query_of(table, columns, where, search, order)
        return AsyncWindows(self._link, query, Window(offset, limit))

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
    ) -> AsyncChanges:
        """Row by row what comes into such a window, changes in it and leaves it."""
        self._check()
        query = query_of(table, columns, where, search, order)
        return AsyncChanges(AsyncWindows(self._link, query, Window(offset, limit)))

    async def ask(self, **fields: str) -> Asked:
        """Send a control message, such as `ask(usersTopic="users_v2", joinType="left")`.

        It is on its topic when this returns; what becomes of it, `control_raw` says.
        """
        self._check()
        return await self._asker.ask(fields)

    async def close(self) -> None:
        """End every window and the connection; whoever waits for one gets `Closed`."""
        if self._closed:
            return
        self._closed = True
        await self._link.close(self._closing())
        await self._session.close()

    def _check(self) -> None:
        if self._closed:
            raise self._closing()

    def _closing(self) -> Closed:
        return Closed(
            "the client is closed", where=str(self._address), remedy="Make another: connect()."
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class Connecting:
    """A client to be: `client = await connect_async(…)` or `async with connect_async(…) as client`.

    Asks the gateway for its tables first, so that a wrong address or key is said here and
    not at the first use.
    """

    def __init__(self, address: Address, patience: Patience) -> None:
        self._address = address
        self._patience = patience
        self._client: AsyncClient | None = None

    def __await__(self) -> Generator[object, None, AsyncClient]:
        return self.connected().__await__()

    async def connected(self) -> AsyncClient:
        client = AsyncClient(self._address, self._patience)
        try:
            await client.tables()
        except BaseException:
            await client.close()
            raise
        return client

    async def __aenter__(self) -> AsyncClient:
        self._client = await self.connected()
        return self._client

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            await self._client.close()


def connect_async(
    url: str,
    key: str | None = None,
    *,
    ca: str | Path | None = None,
    patience: Patience = Patience(),
) -> Connecting:
    """A client for the gateway at `url`, with `key` or the one in EVERGRID_KEY.

    `ca` is a PEM file with the authority of the gateway's certificate, when it is not one
    that the system knows.
    """
    return Connecting(address(url, key, ca), patience)
