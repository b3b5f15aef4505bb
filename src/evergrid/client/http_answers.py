"""What the gateway answers over HTTP: descriptions of tables, and where a control message is."""

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
    """Rows that may be missing in a table, and why.

    reason     `history`, `pairs`, `memory` or `state` of a join; `table_memory`, `unreadable`,
               `retention` or `truncated` of the gateway; a newer gateway may have others
    messages   how many messages the join left out so far, or rows or changes the gateway lacks
    keys       affected join keys, the newest
    since      when the first was left out, in microseconds since the epoch
    """

    reason: str
    messages: int
    keys: tuple[str, ...] = ()
    since: int = 0


class TableDescription(msgspec.Struct, frozen=True):
    """A table: its columns, its size, and its state."""

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
        """The Arrow schema of a snapshot: the row id, then the columns."""
        fields = [(column.name, arrow_type(column.type)) for column in self.columns]
        return pa.schema([(ID_COLUMN, pa.string()), *fields])

    @property
    def newest_time(self) -> datetime.datetime | None:
        """The newest time of a row."""
        return moment(self.newest)


class TableList(msgspec.Struct, frozen=True):
    tables: tuple[TableDescription, ...]


class Asked(msgspec.Struct, frozen=True):
    """A control message that was sent; its verdict will be a row of `control_raw`."""

    partition: int
    offset: int

    @property
    def row_id(self) -> str:
        """The `_id` of that row."""
        return f"{self.partition}:{self.offset}"


class SessionDescription(msgspec.Struct, frozen=True):
    """An open session of a gateway; `since` is in microseconds since the epoch."""

    id: str
    key: str
    address: str
    since: int
    windows: int = 0


class SessionList(msgspec.Struct, frozen=True):
    sessions: tuple[SessionDescription, ...]


class ControlAnswer(msgspec.Struct, frozen=True):
    sent: Asked
