"""The state of a live window as programs get it: its rows, and how fresh they are."""

from __future__ import annotations

import datetime

import msgspec
import pyarrow as pa

from evergrid.client.window_rows import WindowRows
from evergrid.model.table import Column
from evergrid.protocol.messages import Live


class WindowStatus(msgspec.Struct, frozen=True):
    """The state of a window, from the gateway or, without a connection, from the client."""

    state: Live
    message: str
    since: int = 0


class LiveWindow(msgspec.Struct, frozen=True):
    """A window at one moment.

    rows         with the row id as first column `_id`; without columns before the first frame
    columns      name, type and role of the other columns
    total        number of rows of the whole view; `rows` are those from `offset` on
    generation   of the pipeline that made the rows; 0 for tables without generations
    sequence     number of this state; 0 before the first frame
    time         when the gateway took this state
    state        `live`, `stale`, `loading`, or `waiting` for a table that does not exist yet
    message      the state as a sentence; while live, which rows may be missing, or empty
    stale_since  while stale: when the rows were last known to be up to date
    """

    table: str
    rows: pa.Table
    columns: tuple[Column, ...]
    total: int
    offset: int
    generation: int
    sequence: int
    time: datetime.datetime | None
    state: Live
    message: str
    stale_since: datetime.datetime | None

    @property
    def live(self) -> bool:
        return self.state is Live.LIVE


def live_window(table: str, window: WindowRows | None, status: WindowStatus) -> LiveWindow:
    header = window.header if window else None
    return LiveWindow(
        table=table,
        rows=window.rows if window else pa.table({}),
        columns=window.columns if window else (),
        total=header.total if header else 0,
        offset=header.offset if header else 0,
        generation=header.generation if header else 0,
        sequence=header.sequence if header else 0,
        time=moment(header.time) if header else None,
        state=status.state,
        message=status.message,
        stale_since=moment(status.since) if status.state is Live.STALE else None,
    )


def moment(microseconds: int) -> datetime.datetime | None:
    """The time of so many microseconds since the epoch; None for 0, which means no time."""
    if not microseconds:
        return None
    seconds, rest = divmod(microseconds, 1_000_000)
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(microsecond=rest)
