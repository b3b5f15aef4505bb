"""A table followed through a gateway: what is there, what comes, and how fresh it is.

It looks at a window of the newest rows. The default order and a window that counts from the
end show the same as newest first would, but in the order in which a terminal scrolls, and
it is the view that screens have open anyway.
"""

from __future__ import annotations

import time

import msgspec
import pyarrow as pa

from evergrid.changelog.text import printable
from evergrid.cli.printer import Printer
from evergrid.cli.row_diff import Look, News, all_new, newer, news
from evergrid.client import Client, ClientError, Live, LiveWindow, Rejected, Windows
from evergrid.model.table import Role
from evergrid.protocol.codes import Code

_LOOK_SECONDS = 0.2  # at most between two looks at whether anybody still reads
_PACE_SECONDS = 0.1  # at least between two looks at the table, which cost in its width
_RETRY_SECONDS = 1.0
_ROWS_AT_ONCE = 1000
# A window may show a state from a little before a snapshot that was taken after it.
_SETTLE_SECONDS = 1.0


class Wish(msgspec.Struct, frozen=True):
    """What to follow; `rows` are the most that a window may have."""

    table: str
    rows: int
    from_start: bool


class Following:
    """Call `step` again and again."""

    def __init__(self, client: Client, wish: Wish, printer: Printer) -> None:
        self._client = client
        self._wish = wish
        self._printer = printer
        self._rows = wish.rows
        self._windows = self._open()
        self._heard = False
        self._look: Look | None = None
        self._shown: LiveWindow | None = None
        self._state: Live | None = None
        self._warning = ""
        self._not_before = 0.0

    def step(self) -> None:
        """Wait a moment for something, and print what there is."""
        try:
            self._heard = self._windows.next(_LOOK_SECONDS) is not None or self._heard
        except TimeoutError:
            pass
        except Rejected as error:
            self._ask_for_less(error)
        if not self._heard:
            return
        wait = self._not_before - time.monotonic()
        time.sleep(min(max(0.0, wait), _LOOK_SECONDS))
        if wait > _LOOK_SECONDS:
            return
        self._not_before = time.monotonic() + _PACE_SECONDS
        self._take(self._windows.newest)

    def _open(self) -> Windows:
        return self._client.windows(self._wish.table, offset=-self._rows, limit=self._rows)

    def _ask_for_less(self, error: Rejected) -> None:
        """A gateway that allows smaller windows than our configuration says."""
        if error.code != Code.BAD_WINDOW.value or self._rows == 1:
            raise error
        self._rows = max(1, self._rows // 2)
        self._windows = self._open()

    def _take(self, window: LiveWindow) -> None:
        self._tell(window)
        if not window.sequence:
            return
        before, shown = self._look, self._shown
        look = Look(window.rows, older=window.offset > 0)
        if before is None or shown is None or _differ(shown, window):
            self._look = self._begin(window, look)
            self._shown = window
        elif before.rows is not window.rows:
            self._look = look
            self._put(news(before, look))

    def _begin(self, window: LiveWindow, look: Look) -> Look:
        """Print what there is to say of a table that is new, or new behind its name."""
        before, table = self._look, self._wish.table
        if before is not None:
            self._printer.note(f"{table} is now that of generation {window.generation}.")
        self._printer.head(window)
        if self._wish.from_start:
            return self._history()
        if before is not None:
            times = [column.name for column in window.columns if column.role is Role.TIME]
            self._put(newer(before, look, times[0] if times else None))
        return look

    def _history(self) -> Look:
        """Print all rows there are; what a window from now on adds to."""
        rows = self._snapshot()
        self._not_before = time.monotonic() + _SETTLE_SECONDS
        for start in range(0, rows.num_rows, _ROWS_AT_ONCE):
            self._put(all_new(rows.slice(start, _ROWS_AT_ONCE)))
        older = max(0, rows.num_rows - self._rows)
        return Look(rows.slice(older).combine_chunks(), older=older > 0)

    def _snapshot(self) -> pa.Table:
        told = False
        while True:
            try:
                return self._client.snapshot(self._wish.table, limit=self._printer.left)
            except ClientError as error:
                if not error.retry:
                    raise
                if not told:
                    self._printer.note(f"{error.sentence()} Trying again.")
                    told = True
                time.sleep(_RETRY_SECONDS)

    def _put(self, news: News) -> None:
        if news.missed:
            self._printer.note(
                f"more than {self._rows:,} rows came at once; the older of them are left out."
            )
        if len(news):
            self._printer.put(news)

    def _tell(self, window: LiveWindow) -> None:
        """Say how the table is, when that changed."""
        before, self._state = self._state, window.state
        table, message = self._wish.table, printable(window.message)
        warned, self._warning = self._warning, message if window.live else ""
        if before is window.state and warned == self._warning:
            return
        if window.state is Live.STALE:
            self._printer.note(f"{table} is stale{_since(window)} and goes on by itself: {message}")
        elif window.state is not Live.LIVE:
            self._printer.note(f"{table}: {message}")
        elif message:
            self._printer.note(f"{table} is live. {message}")
        elif before is not None:
            self._printer.note(f"{table} is live.")


def _differ(one: LiveWindow, other: LiveWindow) -> bool:
    return (one.generation, one.columns) != (other.generation, other.columns)


def _since(window: LiveWindow) -> str:
    if window.stale_since is None:
        return ""
    since = window.stale_since.astimezone()
    today = time.strftime("%Y-%m-%d")
    return f" since {since:%H:%M:%S}" if f"{since:%Y-%m-%d}" == today else f" since {since:%F %T}"
