"""Times, counts, tables and status lines as text for a terminal."""

from __future__ import annotations

import datetime
import io
import shutil
import sys
from collections.abc import Sequence

from evergrid.model.printable import printable

_CLEAR_LINE = "\r\x1b[2K"
_NO_LIMIT = 100_000  # cells; lines of a table are as long as their content


def local_time(microseconds: int) -> str:
    """A time to the second, in the local zone; its number if Python does not support its year."""
    try:
        return f"{datetime.datetime.fromtimestamp(microseconds // 1_000_000):%F %T}"
    except (ValueError, OverflowError, OSError):
        return str(microseconds)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def cell(text: str, width: int) -> str:
    """`text` in exactly `width` cells, cut with an ellipsis when it is longer."""
    from rich.cells import cell_len, set_cell_size  # services need no rich

    if width and cell_len(text) > width:
        return set_cell_size(text, width - 1) + "…"
    return set_cell_size(text, width)


def table_lines(rows: Sequence[Sequence[str]], headings: Sequence[str] = ()) -> list[str]:
    """Rows with aligned columns, one line each."""
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return []
    table = Table(*headings, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    table.show_header = bool(headings)
    for row in rows:
        table.add_row(*row)
    output = io.StringIO()
    console = Console(
        file=output, width=_NO_LIMIT, color_system=None, markup=False, emoji=False, highlight=False
    )
    console.print(table)
    return [line.rstrip() for line in output.getvalue().splitlines()]


class StatusLine:
    """Prints lines that stay and, below them on a terminal, one line that changes in place."""

    def __init__(self) -> None:
        self._in_place = sys.stdout.isatty()
        self._shown = ""

    def update(self, text: str) -> None:
        """Show the current state; in a pipe, each new state is a line of its own."""
        if text == self._shown:
            return
        self._shown = text
        if self._in_place:
            width = shutil.get_terminal_size().columns
            self._write(f"{_CLEAR_LINE}{cell(printable(text), width - 1).rstrip()}")
        else:
            self._write(f"{text}\n")

    def keep(self, text: str) -> None:
        self.clear()
        self._write(f"{text}\n")

    def clear(self) -> None:
        if self._in_place and self._shown:
            self._write(_CLEAR_LINE)
        self._shown = ""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def warn(text: str) -> None:
    """A line beside the output, on standard error."""
    print(text, file=sys.stderr, flush=True)
