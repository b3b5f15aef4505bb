"""The HTTP handlers for tables, rows, the pipeline, health and metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from aiohttp import web

from evergrid.gateway.access.auth_middleware import key_of, proven_key
from evergrid.gateway.access.json_response import error_response, json_response
from evergrid.gateway.access.request_checks import check_name, check_rights
from evergrid.gateway.engine.table_engine import TableEngine, TableInfo
from evergrid.gateway.http.metrics import MEDIA, MetricsSnapshot, metrics
from evergrid.gateway.http.pipeline_status import shown_to
from evergrid.gateway.http.row_downloads import RowDownloads, no_such_table
from evergrid.gateway.http.row_parameters import read_rows_request
from evergrid.protocol.error_codes import Code


class TableList(msgspec.Struct, frozen=True):
    tables: Sequence[TableInfo]


class Liveness(msgspec.Struct, frozen=True):
    alive: bool = True


class Readiness(msgspec.Struct, frozen=True):
    ready: bool
    message: str


class Api:
    """`document` is the OpenAPI document; `snapshot` collects the metrics with these tables."""

    def __init__(
        self,
        engine: TableEngine,
        downloads: RowDownloads,
        document: dict[str, object],
        snapshot: Callable[[Sequence[TableInfo]], MetricsSnapshot],
    ) -> None:
        self._engine = engine
        self._downloads = downloads
        self._document = document
        self._snapshot = snapshot

    async def tables(self, request: web.Request) -> web.StreamResponse:
        return json_response(TableList(await self._readable(request)))

    async def table(self, request: web.Request) -> web.StreamResponse:
        name = _table_name(request)
        for table in await self._engine.tables():
            if table.name == name:
                return json_response(table)
        raise no_such_table(name)

    async def rows(self, request: web.Request) -> web.StreamResponse:
        name = _table_name(request)
        accept = ",".join(request.headers.getall("Accept", []))
        wanted = read_rows_request(name, list(request.query.items()), accept)
        return await self._downloads.respond(request, wanted)

    async def pipeline(self, request: web.Request) -> web.StreamResponse:
        return json_response(shown_to(proven_key(request), await self._engine.pipeline()))

    async def liveness(self, request: web.Request) -> web.StreamResponse:
        return json_response(Liveness())

    async def readiness(self, request: web.Request) -> web.StreamResponse:
        """Without a key it tells no details: what is wrong with Kafka names hosts and users."""
        load = self._engine.load()
        message = load.message if key_of(request) else load.public_message
        if not load.ready:
            return error_response(Code.NOT_READY, message)
        return json_response(Readiness(ready=True, message=message))

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        now = self._snapshot(await self._readable(request))
        text = metrics(now, of_gateway=proven_key(request).may_read_all)
        return web.Response(body=text.encode(), headers={"Content-Type": MEDIA})

    async def openapi(self, request: web.Request) -> web.StreamResponse:
        return json_response(self._document)

    async def _readable(self, request: web.Request) -> list[TableInfo]:
        key = proven_key(request)
        return [table for table in await self._engine.tables() if key.may_read(table.name)]


def _table_name(request: web.Request) -> str:
    """The table in the path; RequestError if the key may not read it."""
    name = request.match_info["name"]
    check_name(name)
    check_rights(proven_key(request), name)
    return name
