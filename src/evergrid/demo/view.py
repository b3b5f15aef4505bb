"""All that the demo's screen shows, as plain values."""

from __future__ import annotations

from collections.abc import Sequence, Set

import msgspec

from evergrid.changelog.codec import Row
from evergrid.model.table import Column


class TableView(msgspec.Struct, frozen=True):
    """One table's figures; None where there is nothing to measure yet."""

    name: str
    rows: int
    per_second: float
    delay_ms: float | None = None
    age_seconds: float | None = None


class RowView(msgspec.Struct, frozen=True):
    """A row, whether it has just come, and which columns have just changed."""

    row: Row
    new: bool = False
    changed: Set[str] = frozenset()


class Words(msgspec.Struct, frozen=True):
    """What stays the same while the demo runs."""

    directory: str
    tail_command: str
    rate: float


class View(msgspec.Struct, frozen=True):
    """The demo at one moment.

    `steps` are what was done to start, the last one still going on while not `live`;
    `trouble` is what keeps it from being live, in a sentence.
    """

    now: float
    words: Words
    live: bool = False
    broker: str = ""
    gateway: str = ""
    generation: int | None = None
    join: str = ""
    steps: Sequence[str] = ()
    trouble: str = ""
    tables: Sequence[TableView] = ()
    bad: str = ""
    focus: str = ""
    columns: Sequence[Column] = ()
    rows: Sequence[RowView] = ()
