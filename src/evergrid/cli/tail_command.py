"""`evergrid tail TABLE`: print a table's changes as they come."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

from evergrid.cli import connect_options
from evergrid.cli.arguments import integer_from
from evergrid.cli.connect_options import ConnectOptions, command_line_errors, connect
from evergrid.cli.exit_codes import OK
from evergrid.config.problems import suggestion
from evergrid.config.settings import Settings
from evergrid.model.errors import ConfigError

if TYPE_CHECKING:
    from evergrid.cli.tail_output import TailOutput
    from evergrid.client import Client

HELP = "print a table's changes as they come"

_DESCRIPTION = """\
Print a table's changes as they come, through a running gateway: + a new row, ~ an updated one,
- a deleted one. Times of other days are shortened; --json has all values in full.

It follows the newest rows, as many as a window of the gateway may have
(gateway.limits.window_rows). A row that changes several times between two updates is printed
once. If more rows come between two updates than the window has, only the newest are printed.
Updates of rows that are older than the window's rows are not printed.
"""

_RETRY_SECONDS = 1.0
_WIDTH_WITHOUT_TERMINAL = 160


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.add_argument(
        "table", metavar="TABLE", help="the table's name, such as final_ui or quarantine"
    )
    connect_options.add_arguments(parser)
    parser.add_argument(
        "--from-start", action="store_true", help="begin with all rows of the table, oldest first"
    )
    parser.add_argument("-n", type=integer_from(1), metavar="N", help="end after N changes")
    parser.add_argument(
        "--json",
        action="store_true",
        help='print one JSON object per change: {"id": …, "row": …}, with values as in HTTP '
        "answers; row is null for a deleted row",
    )
    parser.add_argument(
        "--all", action="store_true", help="also print the columns that trace a row to its messages"
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        help="wait for the gateway and the table if they do not exist yet",
    )
    parser.add_argument("--no-color", action="store_true", help="print without colors")


def run(settings: Settings, options: argparse.Namespace) -> int:
    gateway = connect_options.from_arguments(settings.gateway, options, os.environ)
    # Arrow and the web client take a moment to import, which --help need not wait for.
    from evergrid.cli.table_follower import FollowOptions, TableFollower
    from evergrid.cli.tail_output import Style, TailOutput

    plain = options.no_color or "NO_COLOR" in os.environ
    style = Style(
        width=shutil.get_terminal_size((_WIDTH_WITHOUT_TERMINAL, 24)).columns,
        color=sys.stdout.isatty() and not plain,
        all_columns=options.all,
    )
    output = TailOutput(style, json=options.json, count=options.n)
    rows = settings.gateway.limits.window_rows
    with command_line_errors(), _client(gateway, output, wait=options.wait) as client:
        if not options.wait:
            _check_table(options.table, client, gateway.url)
        what = FollowOptions(options.table, rows, options.from_start)
        follower = TableFollower(client, what, output)
        while not output.done:
            follower.step()
    return OK


def _client(gateway: ConnectOptions, output: TailOutput, *, wait: bool) -> Client:
    """A client that has connected to the gateway; with `wait`, after as many tries as it takes."""
    from evergrid.client import ClientError

    reported = False
    while True:
        try:
            return connect(gateway)
        except ClientError as error:
            if not wait or not error.retry:
                raise
            if not reported:
                output.note(f"{error.where}: {error.what}. Waiting.")
                reported = True
        time.sleep(_RETRY_SECONDS)


def _check_table(name: str, client: Client, url: str) -> None:
    tables = [table.name for table in client.tables()]
    if name in tables:
        return
    if not tables:
        raise ConfigError(
            "no tables: the gateway has none yet that this key may read",
            where=url,
            remedy="Start `evergrid pipeline`, or add --wait.",
        )
    raise ConfigError(
        f"no such table '{name}', or this key may not read it",
        where=url,
        remedy=f"{suggestion(name, tables, '')} The tables are {', '.join(tables)}.".lstrip(),
    )
