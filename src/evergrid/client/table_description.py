"""What a gateway says about its tables."""

from __future__ import annotations

import datetime

import msgspec
import pyarrow as pa

from evergrid.client.live_window import moment
from evergrid.model.table import Column
from evergrid.protocol.frames import ID_COLUMN
from evergrid.protocol.messages import Live
from evergrid.store.column import arrow_type


class TableGap(msgspec.Struct, frozen=True):
    """Rows that a joined table may lack, and why.

    reason     `history`, `pairs`, `memory` or `state`; a newer gateway may have others
    messages   how many messages were left out of the join so far
    keys       join keys that are affected, the newest
    since      when the first was left out, in microseconds since the epoch
    """

    reason: str
    messages: int
    keys: tuple[str, ...] = ()
    since: int = 0


class TableDescription(msgspec.Struct, frozen=True):
    """A table: what is in it, how much, how fresh."""

    name: str
    state: Live
    message: str = ""
    columns: tuple[Column, ...] = ()
    generation: int = 0
    rows: int = 0
    bytes: int = 0
    changes_per_second: float = 0.0
    lag_seconds: float = 0.0
    newest: int = 0
    since: int = 0
    gaps: tuple[TableGap, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """The columns with their Arrow types, the row id first, as a snapshot has them."""
        fields = [(column.name, arrow_type(column.type)) for column in self.columns]
        return pa.schema([(ID_COLUMN, pa.string()), *fields])

    @property
    def newest_time(self) -> datetime.datetime | None:
        """The highest time of a row in it."""
        return moment(self.newest)


class TableList(msgspec.Struct, frozen=True):
    tables: tuple[TableDescription, ...]
