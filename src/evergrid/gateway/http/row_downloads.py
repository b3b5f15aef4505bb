"""Sends rows over HTTP in small parts, as fast as the client reads them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

import msgspec
import pyarrow as pa
from aiohttp import hdrs, web

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.audit_log import AuditEntry, AuditEvent, AuditLog
from evergrid.gateway.access.auth_middleware import key_of
from evergrid.gateway.access.connection_limiter import client_address
from evergrid.gateway.access.limits import SlotCounter
from evergrid.gateway.access.request_error import RequestError
from evergrid.gateway.access.sending_bytes import SendingBytes
from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.export import TOTAL
from evergrid.gateway.engine.table_engine import TableEngine, TableInfo
from evergrid.gateway.http.row_formats import RowsHead, Writer, writer
from evergrid.gateway.http.row_parameters import Format, RowsRequest
from evergrid.protocol.error_codes import Code
from evergrid.protocol.frames import ID_COLUMN
from evergrid.protocol.messages import Live

ROWS_AT_ONCE = 250  # a millisecond or two of the event loop
BYTES_AT_ONCE = 512 * 1024  # where rows are wide
PART_BYTES = 64 * 1024
STALL_SECONDS = 30.0


class RowDownloads:
    """Limits large downloads; small ones (no larger than a window) are not counted."""

    def __init__(
        self,
        engine: TableEngine,
        slots: SlotCounter,
        limits: GatewayLimits,
        counters: TrafficCounters,
        sending: SendingBytes,
        audit: AuditLog,
    ) -> None:
        self._engine = engine
        self._slots = slots
        self._window_rows = limits.window_rows
        self._per_key = limits.exports_per_key
        self._of_key: Counter[str] = Counter()
        self._counters = counters
        self._sending = sending
        self._audit = audit

    async def respond(self, request: web.Request, wanted: RowsRequest) -> web.StreamResponse:
        if self._sending.is_full(_key_name(request)):
            raise RequestError(
                Code.TOO_MANY_BYTES,
                "too many bytes are being sent to this key, or to all",
                remedy="Read the other answers first, or try again later.",
            )
        with self._place(wanted, _key_name(request)):
            while (response := await self._try(request, wanted)) is None:
                pass
            return response

    async def _try(self, request: web.Request, wanted: RowsRequest) -> web.StreamResponse | None:
        """None if the table was switched between asking for its columns and for its rows."""
        table = await self._table(wanted.query.table)
        async with contextlib.aclosing(self._export(wanted)) as batches:
            first = await anext(batches)
            now = await self._table(wanted.query.table)
            if (now.generation, now.columns) != (table.generation, table.columns):
                return None
            response = _response(wanted, table)
            if request.method == hdrs.METH_HEAD:
                return web.Response(headers=response.headers)
            form = writer(wanted.format, _rows_head(table, first), wanted.guard)
            await response.prepare(request)
            sent: list[int] = []  # rows, batch by batch
            is_complete = False
            entry = AuditEntry(
                AuditEvent.EXPORT,
                key=_key_name(request),
                address=client_address(request.transport),
                table=table.name,
                format=wanted.format.value,
            )
            try:
                await self._send(response, request, form, first, batches, sent)
                is_complete = True
            finally:
                entry = msgspec.structs.replace(entry, rows=sum(sent), is_complete=is_complete)
                # A program may ask for a few rows all the time: such entries are put together.
                is_small = wanted.is_small(self._window_rows)
                (self._audit.add_repeated if is_small else self._audit.add)(entry)
            return response

    async def _table(self, name: str) -> TableInfo:
        for table in await self._engine.tables():
            if table.name == name and table.state is Live.LOADING:
                raise RequestError(Code.NOT_READY, table.message or f"{name} is being loaded.")
            if table.name == name and table.state is not Live.WAITING:
                return table
        raise no_such_table(name)

    @contextlib.contextmanager
    def _place(self, wanted: RowsRequest, key: str) -> Iterator[None]:
        if wanted.is_small(self._window_rows):
            yield
            return
        if self._of_key[key] >= self._per_key:
            raise self._too_many(f"this key has {self._per_key} large ones under way, its limit")
        if not self._slots.take():
            raise self._too_many(f"{self._slots.most} large ones are under way, which is the limit")
        self._of_key[key] += 1
        try:
            yield
        finally:
            self._slots.release()
            self._of_key -= Counter((key,))  # removes a key that has none

    def _too_many(self, reason: str) -> RequestError:
        return RequestError(
            Code.TOO_MANY_EXPORTS,
            f"too many downloads: {reason}",
            remedy=f"Try again later, or ask for at most {self._window_rows} rows.",
        )

    async def _export(self, wanted: RowsRequest) -> AsyncGenerator[pa.RecordBatch, None]:
        try:
            async for batch in self._engine.export(wanted.query, wanted.window):
                yield batch
        except LookupError:
            raise no_such_table(wanted.query.table) from None

    async def _send(
        self,
        response: web.StreamResponse,
        request: web.Request,
        form: Writer,
        first: pa.RecordBatch,
        rest: AsyncIterator[pa.RecordBatch],
        sent: list[int],
    ) -> None:
        """Once begun, only an aborted connection can show that it failed."""
        try:
            await self._write(response, form.begin(first.schema))
            await self._write_rows(response, form, first)
            async for batch in rest:
                await self._room(_key_name(request))
                with self._sending.sending(_key_name(request), batch.nbytes):
                    await self._write_rows(response, form, batch)
                sent.append(batch.num_rows)
            await self._write(response, form.end())
            await response.write_eof()
        except BaseException:
            if request.transport is not None:
                request.transport.abort()
            raise

    async def _write_rows(
        self, response: web.StreamResponse, form: Writer, batch: pa.RecordBatch
    ) -> None:
        """Write parts of a useful size, and let other tasks run after every few rows."""
        part = bytearray()
        width = batch.nbytes // max(1, batch.num_rows)
        rows = max(1, min(ROWS_AT_ONCE, BYTES_AT_ONCE // max(1, width)))
        for start in range(0, batch.num_rows, rows):
            part += form.rows(batch.slice(start, rows))
            if len(part) >= PART_BYTES:
                await self._write(response, bytes(part))
                part.clear()
            await asyncio.sleep(0)
        await self._write(response, bytes(part))
        self._counters.export_rows += batch.num_rows

    async def _room(self, key: str) -> None:
        """Wait until there is room for more that is being sent to this key."""
        while self._sending.is_full(key):
            free = asyncio.Event()
            self._sending.call_when_free(free.set)
            await free.wait()

    async def _write(self, response: web.StreamResponse, part: bytes) -> None:
        if not part:
            return
        self._counters.export_bytes += len(part)
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await response.write(part)
        except TimeoutError:
            self._counters.ended[Code.TOO_SLOW] += 1
            raise ConnectionAbortedError("timeout: the client has stopped reading") from None


def _key_name(request: web.Request) -> str:
    key = key_of(request)
    return key.name if key else ""


def no_such_table(name: str) -> RequestError:
    return RequestError(
        Code.NO_SUCH_TABLE, f"no such table: {name}", remedy="GET /api/tables lists all tables."
    )


def _response(wanted: RowsRequest, table: TableInfo) -> web.StreamResponse:
    response = web.StreamResponse()
    response.content_type = wanted.format.media
    if wanted.format is not Format.ARROW:
        response.charset = "utf-8"
    if wanted.format in (Format.CSV, Format.ARROW):
        name = f"{table.name}.{wanted.format.value}"
        response.headers[hdrs.CONTENT_DISPOSITION] = f'attachment; filename="{name}"'
    return response


def _rows_head(table: TableInfo, first: pa.RecordBatch) -> RowsHead:
    by_name = {column.name: column for column in table.columns}
    names = [name for name in first.schema.names if name != ID_COLUMN]
    return RowsHead(
        table=table.name,
        generation=table.generation,
        columns=tuple(by_name[name] for name in names if name in by_name),
        total=int(first.schema.metadata[TOTAL.encode()]),
    )
