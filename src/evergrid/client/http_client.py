"""Requests over HTTP: the list of tables, snapshots, and control messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import quote

import aiohttp
import msgspec
import pyarrow as pa

from evergrid.client.address import Address
from evergrid.client.client_errors import Unreachable
from evergrid.client.connection_errors import connection_error, http_error
from evergrid.client.table_description import TableDescription
from evergrid.client.timeouts import Patience
from evergrid.views.view_query import Nulls, OrderBy, Query

_CHUNK = 1 << 18
_MAX_ERROR = 1 << 16
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"

T = TypeVar("T")


class Asked(msgspec.Struct, frozen=True):
    """A control message that was sent; its verdict will be a row of `control_raw`."""

    partition: int
    offset: int

    @property
    def row_id(self) -> str:
        """The `_id` of that row."""
        return f"{self.partition}:{self.offset}"


class _ControlAnswer(msgspec.Struct, frozen=True):
    sent: Asked


class _TableList(msgspec.Struct, frozen=True):
    tables: tuple[TableDescription, ...]


_lists = msgspec.json.Decoder(_TableList)
_descriptions = msgspec.json.Decoder(TableDescription)
_control_answers = msgspec.json.Decoder(_ControlAnswer)
_encoder = msgspec.json.Encoder()


class HttpClient:
    """Sends requests to a gateway."""

    def __init__(
        self, session: aiohttp.ClientSession, address: Address, patience: Patience
    ) -> None:
        self._session = session
        self._address = address
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=patience.connect, sock_read=patience.answer
        )

    async def tables(self) -> list[TableDescription]:
        answer = await self._get("/api/tables", {})
        return list(self._decoded(answer, _lists).tables)

    async def table(self, name: str) -> TableDescription:
        answer = await self._get(f"/api/tables/{quote(name, safe='')}", {})
        return self._decoded(answer, _descriptions)

    async def rows(self, query: Query, offset: int, limit: int | None) -> pa.Table:
        """Rows of a view from `offset` on; all of them without a limit."""
        path = f"/api/tables/{quote(query.table, safe='')}/rows"
        answer = await self._get(path, parameters(query, offset, limit))
        # A stream that was cut between two batches would read as a shorter table.
        if len(answer) < len(_END_OF_STREAM) or answer[-8:].to_pybytes() != _END_OF_STREAM:
            raise Unreachable(
                "incomplete answer: the connection was lost", where=query.table, retry=True
            )
        return pa.ipc.open_stream(answer).read_all()

    async def ask(self, fields: Mapping[str, str]) -> Asked:
        """Send a control message with these fields."""
        answer = await self._request("POST", "/api/control", 202, body=_encoder.encode(fields))
        return self._decoded(answer, _control_answers).sent

    def _decoded(self, answer: pa.Buffer, decoder: msgspec.json.Decoder[T]) -> T:
        try:
            return decoder.decode(answer)
        except (msgspec.MsgspecError, ValueError):
            raise http_error(200, str(self._address)) from None

    async def _get(self, path: str, query: dict[str, str]) -> pa.Buffer:
        return await self._request("GET", path, 200, query=query)

    async def _request(
        self,
        method: str,
        path: str,
        status: int,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> pa.Buffer:
        """The body of the answer, in one buffer that Arrow reads without a copy."""
        sink = pa.BufferOutputStream()
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            async with self._session.request(
                method,
                self._address.http(path),
                params=query,
                data=body,
                headers={**self._address.headers(), **headers},
                timeout=self._timeout,
                allow_redirects=False,  # the key must not go to another address
            ) as answer:
                if answer.status != status:
                    error = await answer.content.read(_MAX_ERROR)
                    raise http_error(answer.status, str(self._address), error)
                async for chunk in answer.content.iter_chunked(_CHUNK):
                    sink.write(chunk)
        except (aiohttp.ClientError, OSError) as error:
            raise connection_error(error, str(self._address)) from None
        return sink.getvalue()


def parameters(query: Query, offset: int, limit: int | None) -> dict[str, str]:
    """A view and a window as query parameters."""
    wanted = {
        "columns": ",".join(query.columns),
        "filter": "" if query.filter is None else _encoder.encode(query.filter).decode(),
        "search": query.search,
        "order": ",".join(_spelled(part) for part in query.order),
        "offset": str(offset) if offset else "",
        "limit": "all" if limit is None else str(limit),
        "format": "arrow",
    }
    return {name: value for name, value in wanted.items() if value}


def _spelled(part: OrderBy) -> str:
    nulls = "" if part.nulls is Nulls.LAST else f":{part.nulls.value}"
    return f"{'-' if part.descending else ''}{part.column}{nulls}"
