"""The asynchronous client: requests over HTTP, and live windows over one connection."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec
import pyarrow as pa

from evergrid.client.address import Address, Timeouts, address
from evergrid.client.async_windows import AsyncChanges, AsyncWindows
from evergrid.client.client_errors import Unreachable, closed, connection_error, http_error
from evergrid.client.filters import Columns, Order, Where, order_text, query_of
from evergrid.client.http_answers import (
    Asked,
    ControlAnswer,
    SessionDescription,
    SessionList,
    TableDescription,
    TableList,
)
from evergrid.client.live_connection import LiveConnection
from evergrid.protocol.messages import DEFAULT_LIMIT
from evergrid.views.view_query import Query, Window

_CHUNK = 1 << 18
_MAX_ERROR = 1 << 16
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"

T = TypeVar("T")


class AsyncClient:
    """The tables of a gateway: descriptions, snapshots and live windows.

    All windows share one connection, which is opened with the first window and reconnected
    whenever it is lost. Use a client only on the event loop that it was created on.
    """

    def __init__(self, address: Address, timeouts: Timeouts) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=address.tls()),
            headers={"Authorization": f"Bearer {address.key}"},
            json_serialize=lambda fields: msgspec.json.encode(fields).decode(),
            middlewares=(_without_redirects,),
        )
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=timeouts.connect, sock_read=timeouts.answer
        )
        self._connection = LiveConnection(self._session, address, timeouts)
        self._url = address.url
        self._closed = False

    async def tables(self) -> list[TableDescription]:
        """The tables that the key may read, by name."""
        return list((await self._json(TableList, "GET", "/api/tables")).tables)

    async def table(self, name: str) -> TableDescription:
        """One table: its columns, its size, and its state."""
        return await self._json(TableDescription, "GET", f"/api/tables/{quote(name, safe='')}")

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
        parameters = _parameters(query_of(table, columns, where, search, order), offset, limit)
        path = f"/api/tables/{quote(table, safe='')}/rows"
        answer = await self._request("GET", path, parameters)
        # A stream that was cut between two batches would read as a shorter table.
        if len(answer) < len(_END_OF_STREAM) or answer[-8:].to_pybytes() != _END_OF_STREAM:
            raise Unreachable("incomplete answer: the connection was lost", where=table, retry=True)
        return pa.ipc.open_stream(answer).read_all()

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
        return AsyncChanges(self._connection, query, Window(offset, limit))

    async def ask(self, /, **fields: str) -> Asked:
        """Send a control message, such as `ask(usersTopic="users_v2", joinType="left")`.

        It is on the control topic when this returns; its verdict will be in `control_raw`.
        """
        return (await self._json(ControlAnswer, "POST", "/api/control", fields)).sent

    async def sessions(self) -> list[SessionDescription]:
        """The open sessions of this gateway; the key needs the `admin` right."""
        return list((await self._json(SessionList, "GET", "/api/sessions")).sessions)

    async def end_session(self, session: str) -> SessionDescription:
        """End an open session; its client may connect again as long as its key is valid."""
        path = f"/api/sessions/{quote(session, safe='')}"
        return await self._json(SessionDescription, "DELETE", path)

    async def close(self) -> None:
        """End every window and the connection; calls that wait raise `Closed`."""
        if self._closed:
            return
        self._closed = True
        await self._connection.close(closed(self._url))
        await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _check(self) -> None:
        if self._closed:
            raise closed(self._url)

    async def _request(
        self,
        method: str,
        path: str,
        parameters: dict[str, str] | None = None,
        fields: dict[str, str] | None = None,
    ) -> pa.Buffer:
        """The body of the answer, in one buffer that Arrow reads without a copy."""
        self._check()
        sink = pa.BufferOutputStream()
        try:
            async with self._session.request(
                method,
                self._url + path,
                params=parameters,
                json=fields,
                timeout=self._timeout,
            ) as answer:
                if answer.status != (200 if fields is None else 202):
                    error = await answer.content.read(_MAX_ERROR)
                    raise http_error(answer.status, self._url, error)
                async for chunk in answer.content.iter_chunked(_CHUNK):
                    sink.write(chunk)
        except (aiohttp.ClientError, OSError) as error:
            raise connection_error(error, self._url) from None
        return sink.getvalue()

    async def _json(
        self, kind: type[T], method: str, path: str, fields: dict[str, str] | None = None
    ) -> T:
        answer = await self._request(method, path, fields=fields)
        try:
            return msgspec.json.decode(answer, type=kind)
        except (msgspec.MsgspecError, ValueError):
            raise http_error(200, self._url) from None


async def _without_redirects(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Reject redirects, of WebSockets too: the key must not go to another address."""
    answer = await handler(request)
    if 300 <= answer.status < 400:
        answer.close()
        raise http_error(answer.status, str(request.url.origin()))
    return answer


def _parameters(query: Query, offset: int, limit: int | None) -> dict[str, str]:
    """A view and a window as query parameters."""
    wanted = {
        "columns": ",".join(query.columns),
        "filter": "" if query.filter is None else msgspec.json.encode(query.filter).decode(),
        "search": query.search,
        "order": order_text(query.order),
        "offset": str(offset) if offset else "",
        "limit": "all" if limit is None else str(limit),
        "format": "arrow",
    }
    return {name: value for name, value in wanted.items() if value}


class Connecting:
    """Await it, `client = await connect_async(…)`, or use it in `async with … as client`.

    Requests the list of tables first, so that a wrong address or key fails here and not at the
    first use.
    """

    _client: AsyncClient

    def __init__(self, address: Address, timeouts: Timeouts) -> None:
        self._address = address
        self._timeouts = timeouts

    def __await__(self) -> Generator[object, None, AsyncClient]:
        return self.connect().__await__()

    async def connect(self) -> AsyncClient:
        client = AsyncClient(self._address, self._timeouts)
        try:
            await client.tables()
        except BaseException:
            await client.close()
            raise
        return client

    async def __aenter__(self) -> AsyncClient:
        self._client = await self.connect()
        return self._client

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()


def connect_async(
    url: str,
    key: str | None = None,
    *,
    ca: str | Path | None = None,
    timeouts: Timeouts = Timeouts(),
    patience: Timeouts | None = None,
) -> Connecting:
    """A client for the gateway at `url`, with `key` or the one in EVERGRID_KEY.

    `ca` is a PEM file with the authority that signed the gateway's certificate, if the system
    does not trust it. `patience` is the name of `timeouts` in earlier versions.
    """
    return Connecting(address(url, key, ca), patience or timeouts)
