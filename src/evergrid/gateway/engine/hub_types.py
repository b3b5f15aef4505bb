"""What the hub is told, keeps and counts."""

from __future__ import annotations

import msgspec

from evergrid.gateway.engine.window_bytes import ByteLimits
from evergrid.protocol.messages import WindowState
from evergrid.store.table_store import TableStore
from evergrid.views.view_query import Query, Window


class HubLimits(msgspec.Struct, frozen=True):
    """How often views are published, how long idle ones are kept, how many there may be, and how
    many bytes their windows may have."""

    frame_seconds: float
    linger_seconds: float
    max_views: int
    max_views_per_key: int
    bytes: ByteLimits = ByteLimits()


class HubCounts(msgspec.Struct, frozen=True):
    """What the hub holds; `publications` counts all since the start."""

    views: int
    windows: int
    subscribers: int
    publications: int


class TableEntry(msgspec.Struct):
    """A table by its name; `store` is None while there is no such table."""

    state: WindowState
    store: TableStore | None = None
    generation: int = 0


class Subscription(msgspec.Struct):
    """`waits`: opened while its view lagged behind its table; gets no rows until it follows."""

    query: Query
    window: Window
    key: str
    state: WindowState | None = None
    waits: bool = False
