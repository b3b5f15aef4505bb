"""Follows a table through a gateway: its rows, its changes, and its state.

The follower opens a window of the newest rows. It uses the default order and a negative offset,
which gives the rows in the order in which a terminal scrolls; this is also the view that open
pages have, so the gateway can share it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from evergrid.cli.tail_output import TailOutput
from evergrid.client import (
    Change,
    ChangeKind,
    Client,
    ClientError,
    Live,
    LiveWindow,
    Rejected,
    Windows,
)
from evergrid.client.live_window import changes_between
from evergrid.gateway.http.row_formats import cells
from evergrid.model.errors import EvergridError
from evergrid.model.printable import printable
from evergrid.model.table import Role
from evergrid.protocol.error_codes import Code
from evergrid.protocol.frames import ID_COLUMN

_WAIT_SECONDS = 0.2  # at most until the caller can see that nobody reads the output
_MIN_INTERVAL_SECONDS = 0.1  # between two comparisons, whose cost grows with the window
_RETRY_SECONDS = 1.0
_ROWS_AT_ONCE = 1000
# A window may show a state from a little before a snapshot that was taken after it.
_SETTLE_SECONDS = 1.0

T = TypeVar("T")


def retried(call: Callable[[], T], output: TailOutput) -> T:
    """Call again as long as the gateway may answer later; the reason is printed once."""
    reported = False
    while True:
        try:
            return call()
        except ClientError as error:
            if not error.retry:
                raise
            if not reported:
                output.note(
                    EvergridError(error.what, where=error.where, remedy="Waiting.").sentence()
                )
                reported = True
            time.sleep(_RETRY_SECONDS)


class TableFollower:
    """Follows `table` with a window of so many rows; call `step` repeatedly."""

    def __init__(
        self, client: Client, table: str, output: TailOutput, *, rows: int, from_start: bool
    ) -> None:
        self._client = client
        self._table = table
        self._output = output
        self._rows = rows
        self._from_start = from_start
        self._windows = self._open()
        self._has_update = False
        self._newest: NewestRows | None = None
        self._version: object = None  # generation and columns of the rows shown
        self._reported: tuple[Live, str] | None = None
        self._not_before = 0.0

    def step(self) -> None:
        """Wait a moment for an update, and print what changed."""
        try:
            self._has_update = self._windows.next(_WAIT_SECONDS) is not None or self._has_update
        except TimeoutError:
            pass
        except Rejected as error:
            self._open_smaller(error)
        if not self._has_update:
            return
        wait = self._not_before - time.monotonic()
        time.sleep(min(max(0.0, wait), _WAIT_SECONDS))
        if wait > _WAIT_SECONDS:
            return
        self._not_before = time.monotonic() + _MIN_INTERVAL_SECONDS
        self._update(self._windows.newest)

    def _open(self) -> Windows:
        return self._client.windows(self._table, offset=-self._rows, limit=self._rows)

    def _open_smaller(self, error: Rejected) -> None:
        """Halve the window, for a gateway with a smaller limit than the configuration here."""
        if error.code != Code.BAD_WINDOW.value or self._rows == 1:
            raise error
        self._rows = max(1, self._rows // 2)
        self._windows = self._open()

    def _update(self, window: LiveWindow) -> None:
        self._report_state(window)
        if not window.sequence:
            return
        before, newest = self._newest, NewestRows(window.rows, has_older=window.offset > 0)
        version = (window.generation, window.columns)
        if before is None or version != self._version:
            self._version = version
            self._newest = self._begin(window, newest)
        elif before.rows is not window.rows:
            self._newest = newest
            if some_missed(before, newest):
                self._output.note(
                    f"more than {self._rows:,} rows came at once; the older of them are left out."
                )
            self._output.write(row_diff(before, newest))

    def _begin(self, window: LiveWindow, newest: NewestRows) -> NewestRows:
        """Print the header of a table that is new, or that a new generation replaced."""
        before = self._newest
        if before is not None:
            self._output.note(f"{self._table} is now that of generation {window.generation}.")
        self._output.start(window)
        if self._from_start:
            return self._all_rows()
        if before is not None:
            times = [column.name for column in window.columns if column.role is Role.TIME]
            self._write_new(newer_rows(before, newest, times[0] if times else None))
        return newest

    def _all_rows(self) -> NewestRows:
        """Print all rows of the table; the newest of them, for the first comparison."""
        snapshot = self._client.snapshot
        rows = retried(lambda: snapshot(self._table, limit=self._output.left), self._output)
        self._not_before = time.monotonic() + _SETTLE_SECONDS
        self._write_new(rows)
        older = max(0, rows.num_rows - self._rows)
        return NewestRows(rows.slice(older).combine_chunks(), has_older=older > 0)

    def _write_new(self, rows: pa.Table) -> None:
        for start in range(0, rows.num_rows, _ROWS_AT_ONCE):
            added = itertools.repeat(ChangeKind.ADDED)
            self._output.write([*as_changes(rows.slice(start, _ROWS_AT_ONCE), added)])

    def _report_state(self, window: LiveWindow) -> None:
        """Print the table's state if it changed, and while it is live, what rows may lack."""
        message, before = printable(window.message), self._reported
        self._reported = (window.state, message if window.live else "")
        if before == self._reported:
            return
        if window.state is Live.STALE:
            since = f" since {window.stale_since.astimezone():%F %T}" if window.stale_since else ""
            text = f"{self._table} is stale{since} and resumes automatically: {message}"
            self._output.note(text)
        elif window.state is not Live.LIVE:
            self._output.note(f"{self._table}: {message}")
        elif message or before is not None:
            self._output.note(f"{self._table} is live. {message}".rstrip())


class NewestRows(msgspec.Struct, frozen=True):
    """The newest rows of a table, oldest first; `has_older`: the table has more before them."""

    rows: pa.Table
    has_older: bool

    @property
    def positions(self) -> dict[str, int]:
        return {row_id: place for place, row_id in enumerate(self.rows[ID_COLUMN].to_pylist())}


def row_diff(before: NewestRows, after: NewestRows) -> list[Change]:
    """The changes from one state to the next: deleted rows, then the others, oldest first.

    A row that leaves at the old end made room for a newer one, or retention dropped it: this is
    not a deletion. A row that is missing between others was deleted. Then an older row may enter
    at the old end, which is not new.
    """
    old, new = before.positions, after.positions
    kept = next((place for row_id, place in old.items() if row_id in new), len(old))
    # The first place in the new state that the state before covers.
    floor = new.get(next(iter(old), ""), 0) if before.has_older else 0
    changes = list(changes_between(_comparable(before.rows), _comparable(after.rows)))
    removed = [each for each in changes if each.kind is ChangeKind.REMOVED]
    kinds = {new[each.id]: each.kind for each in changes[len(removed) :] if new[each.id] >= floor}
    rows = after.rows.take(pa.array(kinds, pa.int64()))
    return [
        *(each for each in removed if old[each.id] > kept),
        *as_changes(rows, kinds.values()),
    ]


def some_missed(before: NewestRows, after: NewestRows) -> bool:
    """Whether more rows came than one state holds, so that some of them were never seen."""
    return after.has_older and before.positions.keys().isdisjoint(after.positions)


def newer_rows(before: NewestRows, after: NewestRows, time: str | None) -> pa.Table:
    """The rows of a new generation that are newer than those shown of the one before.

    `time` is the time column; the other rows are the same past once more.
    """
    rows = after.rows
    known = time is not None and before.rows.num_rows and time in before.rows.schema.names
    newest = pc.max(before.rows[time]) if known else None
    if newest is not None and newest.is_valid and newest.type == rows[time].type:
        rows = rows.filter(pc.greater(rows[time], newest))
    return rows


def as_changes(rows: pa.Table, kinds: Iterable[ChangeKind]) -> Iterator[Change]:
    """A change of its kind for each row, with values as in HTTP answers."""
    columns = [cells(column.combine_chunks()) for column in rows.columns]
    for kind, values in zip(kinds, zip(*columns, strict=True), strict=False):
        row = dict(zip(rows.schema.names, values, strict=True))
        yield Change(kind, row.pop(ID_COLUMN), row)


def _comparable(rows: pa.Table) -> pa.Table:
    """With times as numbers, because Python's datetime ends with the year 9999."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            rows = rows.set_column(index, field.name, rows[field.name].cast(pa.int64()))
    return rows
