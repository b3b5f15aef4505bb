"""`evergrid tail TABLE`: print a table's changes as they come."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from evergrid.cli import connect_options
from evergrid.cli.arguments import config_value
from evergrid.cli.connect_options import command_line_errors
from evergrid.cli.exit_codes import OK
from evergrid.cli.table_follower import TableFollower, retried
from evergrid.cli.tail_output import Style, TailOutput
from evergrid.client import Client, Timeouts, connect
from evergrid.config.problems import suggestion
from evergrid.config.settings import Settings
from evergrid.config.value_types import whole
from evergrid.model.errors import ConfigError

_DESCRIPTION = """\
Print a table's changes as they come, through a running gateway: + a new row, ~ an updated one,
- a deleted one. Times of other days are shortened; --json has all values in full.

It follows the newest rows, as many as a window of the gateway may have
(gateway.limits.window_rows). A row that changes several times between two updates is printed
once. If more rows come between two updates than the window has, only the newest are printed.
Updates of rows that are older than the window's rows are not printed.
"""

_WIDTH_WITHOUT_TERMINAL = 160
_TIMEOUTS = Timeouts(longest_wait=3.0)  # short, because a person waits
_COUNT = config_value(whole(1, 10**12))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.add_argument(
        "table", metavar="TABLE", help="the table's name, such as final_ui or quarantine"
    )
    connect_options.add_arguments(parser)
    parser.add_argument(
        "--from-start", action="store_true", help="begin with all rows of the table, oldest first"
    )
    parser.add_argument("-n", type=_COUNT, metavar="N", help="end after N changes")
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
    plain = options.no_color or "NO_COLOR" in os.environ
    style = Style(
        width=shutil.get_terminal_size((_WIDTH_WITHOUT_TERMINAL, 24)).columns,
        color=sys.stdout.isatty() and not plain,
        all_columns=options.all,
    )
    output = TailOutput(style, json=options.json, count=options.n)
    rows = settings.gateway.limits.window_rows

    def connected() -> Client:
        return connect(gateway.url, gateway.key, ca=gateway.ca, timeouts=_TIMEOUTS)

    with (
        command_line_errors(),
        retried(connected, output) if options.wait else connected() as client,
    ):
        if not options.wait:
            _check_table(options.table, client, gateway.url)
        follower = TableFollower(
            client, options.table, output, rows=rows, from_start=options.from_start
        )
        while not output.done:
            follower.step()
    return OK


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
