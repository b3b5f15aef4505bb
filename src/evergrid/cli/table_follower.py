"""Follows a table through a gateway: its rows, its changes, and its state.

The follower opens a window of the newest rows. It uses the default order and a negative offset,
which gives the rows in the order in which a terminal scrolls; this is also the view that open
pages have, so the gateway can share it.
"""

from __future__ import annotations

import time

import msgspec
import pyarrow as pa

from evergrid.cli.row_diff import NewestRows, RowDiff, all_new, newer_rows, row_diff
from evergrid.cli.tail_output import TailOutput
from evergrid.client import Client, ClientError, Live, LiveWindow, Rejected, Windows
from evergrid.model.printable import printable
from evergrid.model.table import Role
from evergrid.protocol.error_codes import Code

_WAIT_SECONDS = 0.2  # at most until the caller can see that nobody reads the output
_MIN_INTERVAL_SECONDS = 0.1  # between two comparisons, whose cost grows with the window
_RETRY_SECONDS = 1.0
_ROWS_AT_ONCE = 1000
# A window may show a state from a little before a snapshot that was taken after it.
_SETTLE_SECONDS = 1.0


class FollowOptions(msgspec.Struct, frozen=True):
    """What to follow; `rows` is the size of the window."""

    table: str
    rows: int
    from_start: bool


class TableFollower:
    """Call `step` repeatedly."""

    def __init__(self, client: Client, options: FollowOptions, output: TailOutput) -> None:
        self._client = client
        self._options = options
        self._output = output
        self._rows = options.rows
        self._windows = self._open()
        self._has_update = False
        self._newest: NewestRows | None = None
        self._shown: LiveWindow | None = None
        self._state: Live | None = None
        self._warning = ""
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
        return self._client.windows(self._options.table, offset=-self._rows, limit=self._rows)

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
        if before is None or shown is None or _differ(shown, window):
            self._newest = self._begin(window, newest)
            self._shown = window
        elif before.rows is not window.rows:
            self._newest = newest
            self._write(row_diff(before, newest))

    def _begin(self, window: LiveWindow, newest: NewestRows) -> NewestRows:
        """Print the header of a table that is new, or that a new generation replaced."""
        before, table = self._newest, self._options.table
        if before is not None:
            self._output.note(f"{table} is now that of generation {window.generation}.")
        self._output.start(window)
        if self._options.from_start:
            return self._all_rows()
        if before is not None:
            times = [column.name for column in window.columns if column.role is Role.TIME]
            self._write(newer_rows(before, newest, times[0] if times else None))
        return newest

    def _all_rows(self) -> NewestRows:
        """Print all rows of the table; the newest of them, for the first comparison."""
        rows = self._snapshot()
        self._not_before = time.monotonic() + _SETTLE_SECONDS
        for start in range(0, rows.num_rows, _ROWS_AT_ONCE):
            self._write(all_new(rows.slice(start, _ROWS_AT_ONCE)))
        older = max(0, rows.num_rows - self._rows)
        return NewestRows(rows.slice(older).combine_chunks(), has_older=older > 0)

    def _snapshot(self) -> pa.Table:
        reported = False
        while True:
            try:
                return self._client.snapshot(self._options.table, limit=self._output.left)
            except ClientError as error:
                if not error.retry:
                    raise
                if not reported:
                    self._output.note(f"{error.sentence()} Retrying.")
                    reported = True
                time.sleep(_RETRY_SECONDS)

    def _write(self, diff: RowDiff) -> None:
        if diff.missed:
            self._output.note(
                f"more than {self._rows:,} rows came at once; the older of them are left out."
            )
        if len(diff):
            self._output.write(diff)

    def _report_state(self, window: LiveWindow) -> None:
        """Print the table's state if it changed."""
        before, self._state = self._state, window.state
        table, message = self._options.table, printable(window.message)
        warned, self._warning = self._warning, message if window.live else ""
        if before is window.state and warned == self._warning:
            return
        if window.state is Live.STALE:
            since = f" since {window.stale_since.astimezone():%F %T}" if window.stale_since else ""
            self._output.note(f"{table} is stale{since} and resumes automatically: {message}")
        elif window.state is not Live.LIVE:
            self._output.note(f"{table}: {message}")
        elif message:
            self._output.note(f"{table} is live. {message}")
        elif before is not None:
            self._output.note(f"{table} is live.")


def _differ(one: LiveWindow, other: LiveWindow) -> bool:
    return (one.generation, one.columns) != (other.generation, other.columns)
