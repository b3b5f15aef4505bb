"""`evergrid demo`: a broker, sample events, pipeline and gateway on this machine."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from evergrid.cli.arguments import config_value, number_between
from evergrid.cli.exit_codes import OK, discard_output
from evergrid.cli.service_log import say
from evergrid.cli.terminal import warn
from evergrid.client import TableDescription
from evergrid.config.value_types import whole
from evergrid.demo.board import Board
from evergrid.demo.demo_broker import NO_SECURITY, SECURED
from evergrid.demo.demo_services import DemoServices
from evergrid.demo.demo_settings import DemoOptions, demo_settings
from evergrid.model.join import JoinType
from evergrid.model.printable import printable
from evergrid.process import child_process

_EPILOG = """\
The demo runs with Evergrid's defaults, whatever is in this directory, unless -c names a file.
That file must have a source named users or accounts, because the sample events are for these.
"""

_POLL_SECONDS = 0.25
_STATUS_SECONDS = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "--rate",
        type=number_between(0.1, 10_000),
        default=50.0,
        metavar="N",
        help="sample events a second (default: 50)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the sample events; the same seed gives the same events (default: 1)",
    )
    parser.add_argument(
        "--port",
        type=config_value(whole(1, 65535)),
        metavar="P",
        help="the broker's port (default: that of the last run, or a free one)",
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="the directory for the demo's files (default: .evergrid/demo)",
    )
    parser.add_argument(
        "--join", choices=[kind.value for kind in JoinType], help="the join's type (default: left)"
    )
    parser.add_argument(
        "--kafka-security",
        choices=[NO_SECURITY, *SECURED],
        default=NO_SECURITY,
        help="how clients authenticate at the broker; all but none use TLS and ACLs "
        "(default: none)",
    )
    parser.add_argument(
        "--minutes",
        type=number_between(0, 1e6),
        metavar="M",
        help="end after the tables were live for so long (default: never)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="delete the data of the last run and start over"
    )


def run(arguments: argparse.Namespace) -> int:
    os.umask(child_process.PRIVATE)
    fields = DemoOptions.__struct_fields__
    options = DemoOptions(**{name: getattr(arguments, name) for name in fields})
    demo = demo_settings(options, os.environ)
    console = Console(markup=False, emoji=False, highlight=False)
    names = [
        table.name for table in (*demo.settings.generation_tables(), demo.settings.quarantine())
    ]
    board = Board(names, names[-1], lambda text: print_line(text, console))
    services = DemoServices(demo, board)
    services.claim_directory()
    live = Live(get_renderable=lambda: render(board), console=console)
    with live if console.is_terminal else contextlib.nullcontext():
        try:
            services.start()
            board.report(f"Follow a table: {demo.tail_command}")
            watch(services.check, board, arguments.minutes, status_lines=not console.is_terminal)
        finally:
            board.pipeline_ended("Stopping.")
            services.stop()
    warn("Stopped.")
    return OK


def watch(
    check: Callable[[], None], board: Board, minutes: float | None, *, status_lines: bool
) -> None:
    """Keep the services running; with `minutes`, until the tables were live for so long."""
    due = 0.0
    while True:
        check()
        if board.live_since:
            if status_lines and time.monotonic() >= due:
                due = time.monotonic() + _STATUS_SECONDS
                board.report(status_line(board))
            if minutes is not None and time.time() - board.live_since >= 60 * minutes:
                return
        time.sleep(_POLL_SECONDS)


def print_line(text: str, console: Console) -> None:
    """Above the board on a terminal; without a reader, the demo goes on."""
    if console.is_terminal:
        line = Text(f"{time.strftime('%H:%M:%S')} {printable(text)}")
        # Not wrapped, so that an address or a command can be copied from the terminal.
        console.print(line, soft_wrap=True)
        return
    try:
        say(printable(text))
    except BrokenPipeError:
        discard_output()


def render(board: Board) -> Group:
    """The board: state, address with the key, broker, and the figures of each table."""
    state = Text(f"● live, generation {board.generation}", "bright_green")
    if not board.live:
        state = Text(f"○ not live: {printable(board.status)}", "bright_yellow")
    address = Text(f"Open: {board.address or 'not served yet'}", "bold")
    broker = Text(f"Kafka: {board.broker or 'not started yet'}; stop: Ctrl-C")
    figures = Table(box=None, pad_edge=False, header_style="dim")
    for number, heading in enumerate(("table", "rows", "changes/s", "lag")):
        figures.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for table in board.tables:
        rate = f"{table.changes_per_second:,.1f}"
        figures.add_row(table.name, f"{table.rows:,}", rate, _lag(table))
    return Group("", state, address, broker, "", figures)


def status_line(board: Board) -> str:
    """The board in one line of plain text."""
    if not board.live:
        return f"not live: {board.status}"
    tables = [
        f"{table.name} {table.rows:,} rows, {table.changes_per_second:,.1f}/s"
        + (f", lag {lag}" if (lag := _lag(table)) else "")
        for table in board.tables
    ]
    return " | ".join([f"live, generation {board.generation}", *tables])


def _lag(table: TableDescription) -> str:
    """How old the newest message was when its row arrived; empty while nothing arrives."""
    if not table.changes_per_second:
        return ""
    seconds = table.lag_seconds
    return f"{1000 * seconds:,.0f} ms" if seconds < 10 else f"{seconds:,.0f} s"
