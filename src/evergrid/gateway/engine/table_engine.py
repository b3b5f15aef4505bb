"""The interface of the engine: what `live` and `http` may ask of it, and what it answers with."""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Protocol

import msgspec
import pyarrow as pa

from evergrid.changelog.manifest import HEARTBEAT_KEY, Gap, Manifest
from evergrid.changelog.unreadable_records import unreadable_text
from evergrid.gateway.engine.deliveries import Deliver, Owner, SubscriberId
from evergrid.gateway.engine.hub_types import HubCounts
from evergrid.model.table import NAME, Column
from evergrid.protocol.messages import Live, Resume
from evergrid.views.view_query import Query, Window

PIPELINE_RUNS = "The pipeline runs."


class TableInfo(msgspec.Struct, frozen=True):
    """A table as lists and metrics show it. Times in microseconds since the epoch; 0: never.

    `newest` is the highest `ts` in it; `lag_seconds` is the age of its newest message when the
    last change arrived; `done` of `total` changes are loaded; `gaps` is what it may lack.
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

    hub: HubCounts
    view_seconds: float  # CPU spent on views since the start
    rows_applied: int
    ready: bool
    message: str
    public_message: str  # the same without names and numbers, for requests without a key
    delay_seconds: float = 0.0  # since the oldest change was read that is not published
    manifest_skipped: Mapping[str, int] = {}  # records that cannot be read, by reason


class PipelineHealth(enum.Enum):
    """`unknown`: Kafka or the heartbeat cannot be read, or no pipeline has written one yet."""

    LIVE = "live"
    BEHIND = "behind"
    GONE = "gone"
    UNKNOWN = "unknown"


class PipelineInfo(msgspec.Struct, frozen=True):
    """`message` is a sentence for people; `manifest` is the newest that was read."""

    health: PipelineHealth
    message: str
    manifest: Manifest


def pipeline_info(manifest: Manifest, down: str, silent: str) -> PipelineInfo:
    """`down` says why Kafka cannot be read, `silent` that the heartbeat has stopped; or empty."""
    health, message = _health(manifest, down, silent)
    sentences = (message, unreadable_text(manifest.unreadable))
    return PipelineInfo(health, " ".join(filter(None, sentences)), manifest)


def _health(manifest: Manifest, down: str, silent: str) -> tuple[PipelineHealth, str]:
    if down:
        return PipelineHealth.UNKNOWN, until_back(down)
    if not manifest.heartbeat:
        return PipelineHealth.UNKNOWN, "No pipeline has been seen yet."
    if silent and HEARTBEAT_KEY in manifest.unreadable:
        return PipelineHealth.UNKNOWN, silent
    if silent:
        return PipelineHealth.GONE, silent
    if why := manifest.behind.why or not_switched(manifest):
        return PipelineHealth.BEHIND, why
    return PipelineHealth.LIVE, PIPELINE_RUNS


def not_switched(manifest: Manifest) -> str:
    """That the current generation cannot be shown because its record cannot be read; or empty."""
    number = manifest.unknown_current
    if number is None:
        return ""
    return f"Generation {number} is current, and its record in the manifest cannot be read."


def until_back(reason: str) -> str:
    """The reason for a pause, and that it ends by itself."""
    return f"{reason} Going on when it is back."


class TableEngine(Protocol):
    """Tables and views; every method is called on the event loop and never blocks it."""

    @property
    def instance(self) -> str: ...
    def start(self, deliver: Deliver) -> None: ...
    def open(
        self,
        subscriber: SubscriberId,
        query: Query,
        window: Window,
        resume: Resume | None,
        owner: Owner,
    ) -> None: ...
    def move(self, subscriber: SubscriberId, window: Window) -> None: ...
    def close(self, subscriber: SubscriberId) -> None: ...
    async def tables(self) -> Sequence[TableInfo]: ...
    async def pipeline(self) -> PipelineInfo: ...
    def export(self, query: Query, window: Window | None) -> AsyncIterator[pa.RecordBatch]: ...
    def load(self) -> EngineLoad: ...
    async def stop(self) -> None: ...
