"""`evergrid sessions`: list the open sessions of a running gateway, or end some."""

from __future__ import annotations

import argparse
import os

from evergrid.cli import connect_options
from evergrid.cli.connect_options import command_line_errors
from evergrid.cli.exit_codes import OK
from evergrid.cli.terminal import counted, local_time, table_lines, warn
from evergrid.client import Client, Rejected, connect
from evergrid.config.settings import Settings
from evergrid.protocol.error_codes import Code

_DESCRIPTION = """\
List the open sessions of a running gateway, the oldest first, or end some. A client whose session
was ended may connect again as long as its key is valid; `evergrid key remove` keeps it out. Needs
a key with the right to do so (evergrid key create NAME --admin). Each gateway has its own sessions.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    connect_options.add_arguments(parser)
    parser.add_argument(
        "--end", action="append", default=[], metavar="ID", help="end this session; may be repeated"
    )


def run(settings: Settings, options: argparse.Namespace) -> int:
    with command_line_errors(), connected(settings, options) as client:
        if options.end:
            for session in options.end:
                ended = client.end_session(session)
                warn(f"Ended: session {ended.id} of key {ended.key or 'none'} at {ended.address}.")
            return OK
        rows = [
            (one.id, one.key or "-", one.address, local_time(one.since), str(one.windows))
            for one in client.sessions()
        ]
    if rows:
        print("\n".join(table_lines(rows, ("ID", "KEY", "ADDRESS", "SINCE", "WINDOWS"))))
    else:
        warn("No open sessions.")
    return OK


def connected(settings: Settings, options: argparse.Namespace) -> Client:
    gateway = connect_options.from_arguments(settings.gateway, options, os.environ)
    return connect(gateway.url, gateway.key, ca=gateway.ca)


def disconnect(settings: Settings, options: argparse.Namespace) -> None:
    """End all sessions of the key that `options` name."""
    ended = 0
    with command_line_errors(), connected(settings, options) as client:
        for session in client.sessions():
            if session.key == options.name:
                try:
                    client.end_session(session.id)
                    ended += 1
                except Rejected as error:
                    if error.code != Code.NOT_FOUND.value:  # it has ended by itself
                        raise
    warn(f"Ended: {counted(ended, 'session')} of key '{options.name}'.")
