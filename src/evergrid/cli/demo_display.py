"""Shows the demo's board: in place on a terminal, as lines elsewhere."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from evergrid.client import TableDescription
from evergrid.demo.board import Board, BoardView
from evergrid.model.printable import printable

_REFRESHES_PER_SECOND = 4
_STATUS_SECONDS = 2.0
_POLL_SECONDS = 0.2
_HEADINGS = ("table", "rows", "changes/s", "lag")


@contextlib.contextmanager
def show(board: Board, console: Console) -> Iterator[None]:
    """Print steps as they come and show the board, while the block runs."""
    printer = _StepPrinter(board, console)
    with _live(board, console):
        printer.start()
        try:
            yield
        finally:
            printer.stop()


def _live(board: Board, console: Console) -> contextlib.AbstractContextManager[object]:
    if not console.is_terminal:
        return contextlib.nullcontext()
    return Live(
        get_renderable=lambda: render(board.view()),
        console=console,
        refresh_per_second=_REFRESHES_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class _StepPrinter:
    """A thread that prints steps and, without a terminal, a status line every two seconds."""

    def __init__(self, board: Board, console: Console) -> None:
        self._board = board
        self._console = console
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="step printer", daemon=True)
        self._status_due = 0.0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # nobody reads the output any more
            while not self._stop.wait(_POLL_SECONDS) and not self._board.is_stopping:
                self._print_new_lines()

    def _print_new_lines(self) -> None:
        for line in self._board.take_lines():
            self._print(printable(line))
        is_due = self._board.live_since is not None and time.monotonic() >= self._status_due
        if is_due and not self._console.is_terminal:
            self._status_due = time.monotonic() + _STATUS_SECONDS
            self._print(status_line(self._board.view()))

    def _print(self, text: str) -> None:
        line = Text(f"{time.strftime('%H:%M:%S')} {text}")
        # Not wrapped, so that an address or a command can be copied from the terminal.
        self._console.print(line, soft_wrap=True)


def render(view: BoardView) -> Group:
    """The board: state, address with the key, broker, and the figures of each table."""
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim")
    facts.add_column(overflow="fold")
    state = ("● live", "bold bright_green") if view.live else ("○ not live", "bright_yellow")
    details = f", generation {view.generation}" if view.live else f": {printable(view.status)}"
    facts.add_row("Evergrid demo", Text.assemble(state, details))
    facts.add_row("Open", Text(view.address, "bold") if view.address else "not served yet")
    facts.add_row("Kafka", view.broker or "not started yet")
    facts.add_row("Stop", "Ctrl-C")
    figures = Table(box=None, pad_edge=False, header_style="dim")
    for number, heading in enumerate(_HEADINGS):
        figures.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for table in view.tables:
        rate = f"{table.changes_per_second:,.1f}"
        figures.add_row(table.name, f"{table.rows:,}", rate, _lag(table))
    return Group("", facts, "", figures)


def status_line(view: BoardView) -> str:
    """The board in one line of plain text."""
    if not view.live:
        return f"not live: {printable(view.status)}"
    tables = [
        f"{table.name} {table.rows:,} rows, {table.changes_per_second:,.1f}/s"
        + (f", lag {lag}" if (lag := _lag(table)) else "")
        for table in view.tables
    ]
    return " | ".join([f"live, generation {view.generation}", *tables])


def _lag(table: TableDescription) -> str:
    """How old the newest message was when its row arrived; empty while nothing arrives."""
    if not table.changes_per_second:
        return ""
    seconds = table.lag_seconds
    return f"{1000 * seconds:,.0f} ms" if seconds < 10 else f"{seconds:,.0f} s"
