"""What a gateway answers over HTTP, but for rows and the live protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
from aiohttp import web

from evergrid.gateway.access.auth_middleware import proven_key
from evergrid.gateway.access.json_response import failure, json_answer
from evergrid.gateway.access.request_checks import check_name, check_rights
from evergrid.gateway.engine.deliveries import Load, TableInfo
from evergrid.gateway.engine.pipeline_health import PipelineInfo
from evergrid.gateway.http.metrics import MEDIA, Situation, metrics
from evergrid.gateway.http.openapi import description
from evergrid.gateway.http.pipeline_status import shown_to
from evergrid.gateway.http.row_downloads import Downloads, Rows, no_such_table
from evergrid.gateway.http.row_parameters import read_rows_wish
from evergrid.protocol.codes import Code


class Tables(Rows, Protocol):
    async def pipeline(self) -> PipelineInfo: ...
    def load(self) -> Load: ...


class TableList(msgspec.Struct, frozen=True):
    tables: Sequence[TableInfo]


class Health(msgspec.Struct, frozen=True):
    alive: bool = True


class Readiness(msgspec.Struct, frozen=True):
    ready: bool
    message: str


class Api:
    """`situation` puts together what the metrics show, of the tables it is given."""

    def __init__(
        self,
        tables: Tables,
        downloads: Downloads,
        version: str,
        situation: Callable[[Sequence[TableInfo]], Situation],
    ) -> None:
        self._tables = tables
        self._downloads = downloads
        self._description = description(version)
        self._situation = situation

    async def tables(self, request: web.Request) -> web.StreamResponse:
        return json_answer(TableList(await self._readable(request)))

    async def table(self, request: web.Request) -> web.StreamResponse:
        name = _table_name(request)
        for table in await self._tables.tables():
            if table.name == name:
                return json_answer(table)
        raise no_such_table(name)

    async def rows(self, request: web.Request) -> web.StreamResponse:
        name = _table_name(request)
        accept = ",".join(request.headers.getall("Accept", []))
        wish = read_rows_wish(name, list(request.query.items()), accept)
        return await self._downloads.answer(request, wish)

    async def pipeline(self, request: web.Request) -> web.StreamResponse:
        return json_answer(shown_to(proven_key(request), await self._tables.pipeline()))

    async def live_health(self, request: web.Request) -> web.StreamResponse:
        return json_answer(Health())

    async def readiness(self, request: web.Request) -> web.StreamResponse:
        load = self._tables.load()
        if not load.ready:
            return failure(Code.NOT_READY, load.message)
        return json_answer(Readiness(True, load.message))

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        text = metrics(self._situation(await self._readable(request)))
        return web.Response(body=text.encode(), headers={"Content-Type": MEDIA})

    async def openapi(self, request: web.Request) -> web.StreamResponse:
        return json_answer(self._description)

    async def _readable(self, request: web.Request) -> list[TableInfo]:
        key = proven_key(request)
        return [table for table in await self._tables.tables() if key.may_read(table.name)]


def _table_name(request: web.Request) -> str:
    """A name that the request's key may read."""
    name = request.match_info["name"]
    check_name(name)
    check_rights(proven_key(request), name)
    return name
