"""The asynchronous client."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from types import TracebackType

import aiohttp
import pyarrow as pa

from evergrid.client.address import Address, address
from evergrid.client.async_windows import AsyncChanges, AsyncWindows
from evergrid.client.client_errors import Closed
from evergrid.client.context_managers import AsyncClosing
from evergrid.client.filters import Columns, Order, Where, query_of
from evergrid.client.http_client import Asked, HttpClient
from evergrid.client.live_connection import LiveConnection
from evergrid.client.table_description import TableDescription
from evergrid.client.timeouts import Patience
from evergrid.protocol.messages import DEFAULT_LIMIT
from evergrid.views.view_query import Window


class AsyncClient(AsyncClosing):
    """The tables of a gateway: descriptions, snapshots and live windows.

    All windows share one connection, which is opened with the first window and reconnected
    whenever it is lost. Use a client only on the event loop that it was created on.
    """

    def __init__(self, address: Address, patience: Patience) -> None:
        connector = aiohttp.TCPConnector(ssl=address.tls())
        self._session = aiohttp.ClientSession(connector=connector)
        self._http = HttpClient(self._session, address, patience)
        self._connection = LiveConnection(self._session, address, patience)
        self._address = address
        self._closed = False

    async def tables(self) -> list[TableDescription]:
        """The tables that the key may read, by name."""
        self._check()
        return await self._http.tables()

    async def table(self, name: str) -> TableDescription:
        """One table: its columns, its size, and its state."""
        self._check()
        return await self._http.table(name)

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
        """The rows of a table at one moment; all of them without a limit."""
        self._check()
        query = query_of(table, columns, where, search, order)
        return await self._http.rows(query, offset, limit)

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
        """The rows `offset` to `offset + limit` of a view, each time they change.

        A negative offset counts from the end and moves with it.
        """
        self._check()
        query = query_of(table, columns, where, search, order)
        return AsyncWindows(self._connection, query, Window(offset, limit))

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
        """The rows that enter such a window, change in it and leave it."""
        self._check()
        query = query_of(table, columns, where, search, order)
        return AsyncChanges(AsyncWindows(self._connection, query, Window(offset, limit)))

    async def ask(self, **fields: str) -> Asked:
        """Send a control message, such as `ask(usersTopic="users_v2", joinType="left")`.

        It is on the control topic when this returns; its verdict will be in `control_raw`.
        """
        self._check()
        return await self._http.ask(fields)

    async def close(self) -> None:
        """End every window and the connection; calls that wait raise `Closed`."""
        if self._closed:
            return
        self._closed = True
        await self._connection.close(self._closing())
        await self._session.close()

    def _check(self) -> None:
        if self._closed:
            raise self._closing()

    def _closing(self) -> Closed:
        return Closed(
            "the client is closed",
            where=str(self._address),
            remedy="Create another with connect().",
        )


class Connecting:
    """Await it, `client = await connect_async(…)`, or use it in `async with … as client`.

    Requests the list of tables first, so that a wrong address or key fails here and not at the
    first use.
    """

    def __init__(self, address: Address, patience: Patience) -> None:
        self._address = address
        self._patience = patience
        self._client: AsyncClient | None = None

    def __await__(self) -> Generator[object, None, AsyncClient]:
        return self.connect().__await__()

    async def connect(self) -> AsyncClient:
        client = AsyncClient(self._address, self._patience)
        try:
            await client.tables()
        except BaseException:
            await client.close()
            raise
        return client

    async def __aenter__(self) -> AsyncClient:
        self._client = await self.connect()
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

    `ca` is a PEM file with the authority that signed the gateway's certificate, if the system
    does not trust it.
    """
    return Connecting(address(url, key, ca), patience)
