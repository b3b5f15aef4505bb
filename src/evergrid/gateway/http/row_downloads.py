"""Rows over HTTP: a little at a time, as fast as the one who asked takes them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from typing import Protocol

import pyarrow as pa
from aiohttp import hdrs, web

from evergrid.gateway.access.limits import Counter
from evergrid.gateway.access.request_error import Refusal
from evergrid.gateway.access.traffic_counters import Counts
from evergrid.gateway.engine.deliveries import TableInfo
from evergrid.gateway.http.row_formats import Head, Writer, writer
from evergrid.gateway.http.row_parameters import Format, RowsWish
from evergrid.protocol.codes import Code
from evergrid.protocol.frames import ID_COLUMN
from evergrid.protocol.messages import Live
from evergrid.views.query import Query, Window

ROWS_AT_ONCE = 250  # a millisecond or two of the event loop
PART_BYTES = 64 * 1024
STALL_SECONDS = 30.0


class Rows(Protocol):
    """What a download asks of the engine."""

    async def tables(self) -> Sequence[TableInfo]: ...
    def export(self, query: Query, window: Window | None) -> AsyncIterator[pa.RecordBatch]: ...


class Downloads:
    """Large ones are few at once; small ones (no larger than a window) are not counted."""

    def __init__(self, rows: Rows, places: Counter, window_rows: int, counts: Counts) -> None:
        self._rows = rows
        self._places = places
        self._window_rows = window_rows
        self._counts = counts

    async def answer(self, request: web.Request, wish: RowsWish) -> web.StreamResponse:
        with self._place(wish):
            while (answer := await self._try(request, wish)) is None:
                pass
            return answer

    async def _try(self, request: web.Request, wish: RowsWish) -> web.StreamResponse | None:
        """None when the table was switched between the question for its columns and its rows."""
        table = await self._table(wish.query.table)
        async with contextlib.aclosing(self._export(wish)) as batches:
            first = await anext(batches)
            now = await self._table(wish.query.table)
            if (now.generation, now.columns) != (table.generation, table.columns):
                return None
            answer = _answer(wish, table)
            if request.method == hdrs.METH_HEAD:
                return web.Response(headers=answer.headers)
            form = writer(wish.format, _head(wish, table, first), wish.guard)
            await answer.prepare(request)
            await self._send(answer, request, form, first, batches)
            return answer

    async def _table(self, name: str) -> TableInfo:
        for table in await self._rows.tables():
            if table.name == name and table.state is Live.LOADING:
                raise Refusal(Code.NOT_READY, table.message or f"{name} is being loaded.")
            if table.name == name and table.state is not Live.WAITING:
                return table
        raise no_such_table(name)

    @contextlib.contextmanager
    def _place(self, wish: RowsWish) -> Iterator[None]:
        if wish.small(self._window_rows):
            yield
            return
        if not self._places.take():
            raise Refusal(
                Code.TOO_MANY_EXPORTS,
                f"{self._places.most} large downloads are under way, as many as may be",
                remedy=f"Try again later, or ask for at most {self._window_rows} rows.",
            )
        try:
            yield
        finally:
            self._places.give_back()

    async def _export(self, wish: RowsWish) -> AsyncGenerator[pa.RecordBatch, None]:
        try:
            async for batch in self._rows.export(wish.query, wish.window):
                yield batch
        except LookupError:
            raise no_such_table(wish.query.table) from None

    async def _send(
        self,
        answer: web.StreamResponse,
        request: web.Request,
        form: Writer,
        first: pa.RecordBatch,
        rest: AsyncIterator[pa.RecordBatch],
    ) -> None:
        """Once begun, nothing but a broken connection can say that it failed."""
        try:
            await self._write(answer, form.begin(first.schema))
            await self._write_rows(answer, form, first)
            async for batch in rest:
                await self._write_rows(answer, form, batch)
            await self._write(answer, form.end())
            await answer.write_eof()
        except BaseException:
            if request.transport is not None:
                request.transport.abort()
            raise

    async def _write_rows(
        self, answer: web.StreamResponse, form: Writer, batch: pa.RecordBatch
    ) -> None:
        """In parts that are worth a packet, with a turn for others after every few rows."""
        part = bytearray()
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            part += form.rows(batch.slice(start, ROWS_AT_ONCE))
            if len(part) >= PART_BYTES:
                await self._write(answer, bytes(part))
                part.clear()
            await asyncio.sleep(0)
        await self._write(answer, bytes(part))
        self._counts.export_rows += batch.num_rows

    async def _write(self, answer: web.StreamResponse, part: bytes) -> None:
        if not part:
            return
        self._counts.export_bytes += len(part)
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await answer.write(part)
        except TimeoutError:
            self._counts.ended[Code.TOO_SLOW] += 1
            raise ConnectionAbortedError("a download was not read for too long") from None


def no_such_table(name: str) -> Refusal:
    return Refusal(
        Code.NO_SUCH_TABLE, f"there is no table {name} now", remedy="GET /api/tables lists them."
    )


def _answer(wish: RowsWish, table: TableInfo) -> web.StreamResponse:
    answer = web.StreamResponse()
    answer.content_type = wish.format.media
    if wish.format is not Format.ARROW:
        answer.charset = "utf-8"
    if wish.format in (Format.CSV, Format.ARROW):
        name = f"{table.name}.{wish.format.value}"
        answer.headers[hdrs.CONTENT_DISPOSITION] = f'attachment; filename="{name}"'
    return answer


def _head(wish: RowsWish, table: TableInfo, first: pa.RecordBatch) -> Head:
    by_name = {column.name: column for column in table.columns}
    names = [name for name in first.schema.names if name != ID_COLUMN]
    return Head(
        table=table.name,
        generation=table.generation,
        columns=tuple(by_name[name] for name in names if name in by_name),
        total=_total(wish, table, first),
    )


def _total(wish: RowsWish, table: TableInfo, first: pa.RecordBatch) -> int | None:
    """The engine says it beside the schema."""
    said = (first.schema.metadata or {}).get(b"total")
    if said is not None:
        return int(said)
    return table.rows if wish.query.filter is None and not wish.query.search.strip() else None
