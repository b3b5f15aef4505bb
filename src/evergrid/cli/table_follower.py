"""Follows a table through a gateway: its rows, its changes, and its state.

The follower opens a window of the newest rows. It uses the default order and a negative offset,
which gives the rows in the order in which a terminal scrolls; this is also the view that open
pages have, so the gateway can share it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa

from evergrid.cli.row_diff import NewestRows, as_changes, newer_rows, row_diff, some_missed
from evergrid.cli.tail_output import TailOutput
from evergrid.client import ChangeKind, Client, ClientError, Live, LiveWindow, Rejected, Windows
from evergrid.model.errors import EvergridError
from evergrid.model.printable import printable
from evergrid.model.table import Role
from evergrid.protocol.error_codes import Code

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
        self._shown: LiveWindow | None = None
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
        before, shown = self._newest, self._shown
        newest = NewestRows(window.rows, has_older=window.offset > 0)
        self._shown = window
        if (
            before is None
            or shown is None
            or (shown.generation, shown.columns) != (window.generation, window.columns)
        ):
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
