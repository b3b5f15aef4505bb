"""`evergrid tail TABLE`: a table's changes in the terminal, as they come."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

from evergrid.cli import connect_options as contact
from evergrid.config.problems import suggestion
from evergrid.config.settings import Settings
from evergrid.model.errors import ConfigError

if TYPE_CHECKING:
    from evergrid.cli.printer import Printer
    from evergrid.client import Client

HELP = "show a table's changes as they come"

_DESCRIPTION = """\
Show a table's changes as they come, through a running gateway: + a new row, ~ a changed one,
- a deleted one.

It follows the newest rows, as many as a window of the gateway may have (gateway.limits,
window_rows). A row that changes several times between two frames is shown once, as it is
then. If more rows come between two frames than the window has, only the newest are shown.
Corrections of rows that are older than the window's are not shown.
"""

_RETRY_SECONDS = 1.0
_WIDTH_OF_A_FILE = 160


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.add_argument("table", metavar="TABLE", help="its name, such as final_ui or quarantine")
    contact.add_arguments(parser)
    parser.add_argument(
        "--from-start", action="store_true", help="begin with all rows there are, oldest first"
    )
    parser.add_argument("-n", type=_count, metavar="N", help="end after N changes")
    parser.add_argument(
        "--json",
        action="store_true",
        help='one JSON object per change: {"id": …, "row": …}, values as over HTTP, row null '
        "when it was deleted",
    )
    parser.add_argument(
        "--all", action="store_true", help="also show the columns that trace a row to its messages"
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        help="if there is no gateway or no such table yet, wait for it",
    )
    parser.add_argument("--no-color", action="store_true", help="plain text")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def run(settings: Settings, options: argparse.Namespace) -> int:
    found = contact.contact(settings.gateway, options, os.environ)
    # Arrow and the web client take a moment to import, which --help need not wait for.
    from evergrid.cli.printer import Printer
    from evergrid.cli.table_follower import Following, Wish
    from evergrid.cli.tail_output import Style

    plain = options.no_color or "NO_COLOR" in os.environ
    style = Style(
        width=shutil.get_terminal_size((_WIDTH_OF_A_FILE, 24)).columns,
        colour=sys.stdout.isatty() and not plain,
        all_columns=options.all,
    )
    printer = Printer(style, json=options.json, count=options.n)
    wish = Wish(options.table, settings.gateway.limits.window_rows, options.from_start)
    with contact.explained(), _client(found, printer, wait=options.wait) as client:
        if not options.wait:
            _check_table(options.table, client, found.url)
        following = Following(client, wish, printer)
        while not printer.done:
            following.step()
    return 0


def _client(found: contact.Contact, printer: Printer, *, wait: bool) -> Client:
    """A client that has reached the gateway, at once or, if that was asked for, after a while."""
    from evergrid.client import ClientError

    said = False
    while True:
        try:
            return contact.connected(found)
        except ClientError as error:
            if not wait or not error.retry:
                raise
            if not said:
                printer.note(f"{error.where}: {error.what}. Waiting.")
                said = True
        time.sleep(_RETRY_SECONDS)


def _check_table(name: str, client: Client, url: str) -> None:
    tables = [table.name for table in client.tables()]
    if name in tables:
        return
    if not tables:
        raise ConfigError(
            "the gateway has no tables yet that this key may read",
            where=url,
            remedy="Start evergrid pipeline, or add --wait.",
        )
    raise ConfigError(
        f"there is no table '{name}' that this key may read",
        where=url,
        remedy=f"{suggestion(name, tables, '')} There are {', '.join(tables)}.".lstrip(),
    )
