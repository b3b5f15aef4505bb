"""The gateway's engine over tables that a test writes: real store, views and hub."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
import pyarrow as pa

from evergrid.changelog.arrow_reader import RowReader
from evergrid.changelog.manifest import Gap, Manifest
from evergrid.config.settings import GatewayLimits
from evergrid.gateway.engine.deliveries import Deliver, Owner, SubscriberId
from evergrid.gateway.engine.export import Export
from evergrid.gateway.engine.hub import Hub
from evergrid.gateway.engine.hub_types import HubLimits
from evergrid.gateway.engine.shared_view import PublicationTime
from evergrid.gateway.engine.table_engine import (
    EngineLoad,
    PipelineInfo,
    TableInfo,
    pipeline_info,
)
from evergrid.gateway.engine.window_bytes import ByteLimits
from evergrid.model.table import Table
from evergrid.protocol.messages import Live, Resume, WindowState
from evergrid.store.table_store import ApplyResult, TableStore
from evergrid.views.view_query import Query, Window

Cell = str | int | float | bool | None
# By rows; or by columns, as the store takes them, where there are very many.
NewRows: TypeAlias = Sequence[Mapping[str, Cell]] | pa.RecordBatch


class LocalEngine:
    """The gateway's engine without its threads: every call is done on the event loop."""

    def __init__(self, limits: GatewayLimits) -> None:
        self.instance = secrets.token_hex(8)
        self.hub = Hub(
            HubLimits(
                frame_seconds=0.0,
                linger_seconds=0.2,
                max_views_per_key=limits.views_per_key,
                max_views=limits.views,
                bytes=ByteLimits.of(limits),
            )
        )
        self.ready = True
        self.manifest = Manifest()
        self.down = ""
        self.silent = ""
        self._stores: dict[str, TableStore] = {}
        self._changes: dict[str, int] = {}
        self._states: dict[str, WindowState] = {}
        self.gaps: dict[str, tuple[Gap, ...]] = {}  # by table
        self._generations: dict[str, int] = {}
        self._deliver: Deliver | None = None
        self._timer: asyncio.Task[None] | None = None

    def start(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._timer = asyncio.create_task(self._go_on())

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            await asyncio.wait({self._timer})

    # What the server asks

    def open(
        self,
        subscriber: SubscriberId,
        query: Query,
        window: Window,
        resume: Resume | None,
        owner: Owner,
    ) -> None:
        ours = resume.sequence if resume and resume.instance == self.instance else None
        again = resume is not None
        self.hub.open(subscriber, query, window, ours, self._moment(), again=again, owner=owner)
        self._soon()

    def move(self, subscriber: SubscriberId, window: Window) -> None:
        self.hub.move(subscriber, window, self._moment())
        self._soon()

    def close(self, subscriber: SubscriberId) -> None:
        self.hub.close(subscriber, time.monotonic())
        self._soon()

    async def tables(self) -> Sequence[TableInfo]:
        return [self._info(name, self._stores[name]) for name in sorted(self._stores)]

    async def pipeline(self) -> PipelineInfo:
        return pipeline_info(self.manifest, self.down, self.silent)

    async def export(self, query: Query, window: Window | None) -> AsyncIterator[pa.RecordBatch]:
        store = self._stores.get(query.table)
        if store is None:
            raise LookupError(query.table)
        export = Export(store, query, window, self.hub.tick)
        while not export.prepared:
            export.prepare()
            await asyncio.sleep(0)
        while (batch := export.step()) is not None:
            yield batch
            await asyncio.sleep(0)

    def load(self) -> EngineLoad:
        return EngineLoad(
            hub=self.hub.counts(),
            view_seconds=0.0,
            rows_applied=sum(self._changes.values()),
            ready=self.ready,
            message="All tables are loaded." if self.ready else "Loading: 1 of 2 tables.",
            public_message="" if self.ready else "Tables are being loaded.",
        )

    # What a test does

    def place(self, table: Table, rows: NewRows, generation: int) -> None:
        """A new table under its name, or another generation of it."""
        store = self._stores[table.name] = TableStore(table)
        self._generations[table.name] = generation
        self._upsert(store, rows)
        self.hub.show_table(table.name, store, generation)
        self.say(table.name, WindowState(Live.LIVE, ""))

    def share(self, name: str, generation: int) -> None:
        """Another generation that shares the same table."""
        self._generations[name] = generation
        self.hub.show_table(name, self._stores[name], generation)
        self._soon()

    def withdraw(self, name: str) -> None:
        del self._stores[name]
        self.hub.remove_table(name)
        self.say(name, WindowState(Live.WAITING, f"There is no table {name} now."))

    def say(self, name: str, state: WindowState) -> None:
        self._states[name] = state
        self.hub.set_state(name, state)
        self._soon()

    def upsert(self, name: str, rows: NewRows) -> None:
        store = self._stores[name]
        self.hub.update(store, self._upsert(store, rows))
        self._soon()

    def delete(self, name: str, ids: Sequence[str]) -> None:
        store = self._stores[name]
        self.hub.tick += 1
        self.hub.update(store, store.delete(ids))
        self._soon()

    def _upsert(self, store: TableStore, rows: NewRows) -> ApplyResult:
        self.hub.tick += 1
        name = store.table.name
        self._changes[name] = self._changes.get(name, 0) + len(rows)
        if isinstance(rows, pa.RecordBatch):
            return store.upsert(rows, self.hub.tick)
        batch, bad = RowReader(store.table).read([msgspec.json.encode(row) for row in rows])
        if bad:
            raise ValueError(f"no rows of {name}: {[rows[i] for i in bad]}")
        return store.upsert(batch, self.hub.tick)

    def _soon(self) -> None:
        asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        while self.hub.build_views():
            pass
        self.hub.publish(self._moment())
        if deliveries := self.hub.deliveries():
            assert self._deliver is not None
            self._deliver(deliveries)

    async def _go_on(self) -> None:
        """Runs what depends on time alone: dropping idle views, publishing delayed totals."""
        while True:
            await asyncio.sleep(0.05)
            self._turn()

    def _moment(self) -> PublicationTime:
        return PublicationTime(0, self.hub.tick, time.monotonic(), time.time_ns() // 1000)

    def _info(self, name: str, store: TableStore) -> TableInfo:
        state = self._states[name]
        return TableInfo(
            name=name,
            state=state.state,
            message=state.message,
            columns=store.table.columns,
            generation=self._generations[name],
            rows=len(store),
            bytes=store.nbytes,
            max_rows=store.table.retention.rows or 0,
            max_bytes=2**31,
            changes=self._changes[name],
            changes_per_second=0.0,
            newest=store.newest,
            lag_seconds=0.0,
            since=state.since,
            views=self.hub.view_count(name),
            done=state.done,
            total=state.total,
            gaps=self.gaps.get(name, ()),
        )
