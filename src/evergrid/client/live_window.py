"""What a program gets of a live window: its rows, and how fresh they are."""

from __future__ import annotations

import datetime

import msgspec
import pyarrow as pa

from evergrid.client.window_state import Picture
from evergrid.model.table import Column
from evergrid.protocol.messages import Live


class Standing(msgspec.Struct, frozen=True):
    """How a window is, in the gateway's words or, without a connection, in the client's."""

    state: Live
    message: str
    since: int = 0
    done: int = 0
    total: int = 0


class LiveWindow(msgspec.Struct, frozen=True):
    """A window at one moment.

    rows         with the row id as first column `_id`; no columns while nothing has come yet
    columns      name, type and role of the others
    total        rows of the whole view, of which these are those from `offset` on
    generation   of the pipeline that made them; 0 for tables that belong to none
    sequence     of this state; 0 while nothing has come yet
    time         when the gateway took this state
    state        `live`, or `waiting` for a table that is not there, `loading` it, `stale`
    message      the state as a sentence for people; while live, what the rows may lack, or empty
    stale_since  while stale: when the rows were last known to be fresh
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


def live_window(table: str, picture: Picture | None, standing: Standing) -> LiveWindow:
    header = picture.header if picture else None
    return LiveWindow(
        table=table,
        rows=picture.rows if picture else pa.table({}),
        columns=picture.columns if picture else (),
        total=header.total if header else 0,
        offset=header.offset if header else 0,
        generation=header.generation if header else 0,
        sequence=header.sequence if header else 0,
        time=moment(header.time) if header else None,
        state=standing.state,
        message=standing.message,
        stale_since=moment(standing.since) if standing.state is Live.STALE else None,
    )


def moment(microseconds: int) -> datetime.datetime | None:
    """A time of the wire; 0 is none."""
    if not microseconds:
        return None
    seconds, rest = divmod(microseconds, 1_000_000)
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(microsecond=rest)
