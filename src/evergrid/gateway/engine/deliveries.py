"""What the engine's thread hands to the event loop: new states of windows, and words about them.

A ticket is the gateway's own number for one subscription, never used twice: something that
arrives for a ticket that was given back is dropped, so late results reach nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from evergrid.changelog.manifest import Gap
from evergrid.model.table import Column
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import Live
from evergrid.views.query import Window

Ticket = int


class Publication(Protocol):
    """One state of one window, as frames without their first four bytes.

    `difference` leads from the state `base` to this one; None when a full window is smaller
    or there was no state before. `full()` is encoded when first asked for, then shared.
    """

    @property
    def window(self) -> Window: ...
    @property
    def sequence(self) -> int: ...
    @property
    def base(self) -> int: ...
    @property
    def difference(self) -> bytes | None: ...
    def full(self) -> bytes: ...


class Published(msgspec.Struct, frozen=True):
    """The newest state of the window that all these tickets look at."""

    tickets: Sequence[Ticket]
    publication: Publication


class Resumed(msgspec.Struct, frozen=True):
    """The newest state, for a viewer who has the state `sequence` from an earlier connection."""

    ticket: Ticket
    publication: Publication
    sequence: int


class Told(msgspec.Struct, frozen=True):
    """How a window is, when that changed."""

    ticket: Ticket
    state: Live
    message: str
    since: int = 0
    done: int = 0
    total: int = 0
    code: str = ""


class Refused(msgspec.Struct, frozen=True):
    """A subscription that cannot be; its ticket is void."""

    ticket: Ticket
    code: Code
    message: str


Delivery = Published | Resumed | Told | Refused


class Deliver(Protocol):
    """Takes deliveries on the event loop; `done` is called when all have been on their way."""

    def __call__(
        self, deliveries: Sequence[Delivery], done: Callable[[], None] | None = None
    ) -> None: ...


class TableInfo(msgspec.Struct, frozen=True):
    """A table as lists and metrics show it. Times in microseconds since the epoch; 0: never.

    `newest` is the highest `ts` in it; `lag_seconds` how old the newest of its messages was when
    the last change came; `done` of `total` changes are loaded; `gaps` is what a joined table may
    lack.
    """

    name: str
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


class Load(msgspec.Struct, frozen=True):
    """What the engine's work costs, for the metrics."""

    views: int
    windows: int
    tickets: int
    view_seconds: float  # CPU spent on views since the start
    publications: int
    rows_applied: int
    stalest_since: int
    ready: bool
    message: str
