"""The interface of the engine: what `live` and `http` may ask of it, and what it answers with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Protocol

import msgspec
import pyarrow as pa

from evergrid.changelog.manifest import Gap
from evergrid.gateway.engine.deliveries import Deliver, SubscriberId
from evergrid.gateway.engine.pipeline_health import PipelineInfo
from evergrid.model.table import NAME, Column
from evergrid.protocol.messages import Live, Resume
from evergrid.views.view_query import Query, Window


class TableInfo(msgspec.Struct, frozen=True):
    """A table as lists and metrics show it. Times in microseconds since the epoch; 0: never.

    `newest` is the highest `ts` in it; `lag_seconds` is the age of its newest message when the
    last change arrived; `done` of `total` changes are loaded; `gaps` is what a joined table may
    lack.
    """

    name: Annotated[str, msgspec.Meta(pattern=f"^{NAME.pattern}$")]
    state: Live
    message: str
    columns: Sequence[Column]
    generation: int
    rows: int
    bytes: int
    max_rows: int
    max_bytes: int
    changes: int
    changes_per_second: float
    newest: int
    lag_seconds: float
    since: int
    views: int
    done: int
    total: int
    gaps: Sequence[Gap] = ()


class EngineLoad(msgspec.Struct, frozen=True):
    """The engine's work in numbers, for the metrics."""

    views: int
    windows: int
    subscribers: int
    view_seconds: float  # CPU spent on views since the start
    publications: int
    rows_applied: int
    ready: bool
    message: str


class TableEngine(Protocol):
    """Tables and views; every method is called on the event loop and never blocks it."""

    @property
    def instance(self) -> str: ...
    def start(self, deliver: Deliver) -> None: ...
    def open(
        self, subscriber: SubscriberId, query: Query, window: Window, resume: Resume | None
    ) -> None: ...
    def move(self, subscriber: SubscriberId, window: Window) -> None: ...
    def close(self, subscriber: SubscriberId) -> None: ...
    async def tables(self) -> Sequence[TableInfo]: ...
    async def pipeline(self) -> PipelineInfo: ...
    def export(self, query: Query, window: Window | None) -> AsyncIterator[pa.RecordBatch]: ...
    def load(self) -> EngineLoad: ...
    async def stop(self) -> None: ...
