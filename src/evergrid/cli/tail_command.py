"""`evergrid tail TABLE`: print a table's changes as they come."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from evergrid.cli.arguments import config_value
from evergrid.cli.exit_codes import OK
from evergrid.cli.table_follower import TableFollower, retried
from evergrid.cli.tail_output import Style, TailOutput
from evergrid.client import Client, ClientError, Denied, Timeouts, Unreachable, connect
from evergrid.client.address import KEY_VARIABLE, Address, address
from evergrid.client.client_errors import NOT_RUNNING
from evergrid.config.problems import suggestion
from evergrid.config.settings import Gateway, Settings
from evergrid.config.value_types import whole
from evergrid.model.errors import ConfigError, EvergridError
from evergrid.protocol.error_codes import Code

URL_VARIABLE = "EVERGRID_URL"

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
_CREATE_KEY = (
    "Create one with `evergrid key create NAME > my.key` where the gateway runs, and add "
    f"--key-file my.key, or set {KEY_VARIABLE}."
)
_ADDRESS_FORMAT = (
    "Write the address like http://127.0.0.1:8080, without the key, which goes into a file "
    f"(--key-file) or into {KEY_VARIABLE}."
)
_CERTIFICATE = (
    "Add --ca with the PEM file of the authority that signed it, and give --url the name that is "
    "in the certificate."
)
_START = "Start it with `evergrid gateway` or `evergrid run`, or give its address with --url."
_MAX_KEY = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.add_argument(
        "table", metavar="TABLE", help="the table's name, such as final_ui or quarantine"
    )
    parser.add_argument(
        "--url",
        metavar="URL",
        help=f"the gateway's address (default: {URL_VARIABLE}, else the configuration's)",
    )
    parser.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help=f"a file with the key (default: the key in {KEY_VARIABLE}). The key itself cannot be "
        "an argument, because other users see arguments in the list of processes",
    )
    parser.add_argument(
        "--ca",
        type=Path,
        metavar="FILE",
        help="PEM file of the authority that signed the gateway's certificate (default: the "
        "system's authorities)",
    )
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
    gateway = gateway_address(settings.gateway, options, os.environ)
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


def gateway_address(
    gateway: Gateway, options: argparse.Namespace, environ: Mapping[str, str]
) -> Address:
    """The gateway that the options, the environment or the configuration name."""
    url = options.url or environ.get(URL_VARIABLE) or configured_url(gateway)
    key = _key(options.key_file, environ)
    try:
        return address(url, key, options.ca)
    except ConfigError as error:
        raise ConfigError(error.what, where=error.where, remedy=_ADDRESS_FORMAT) from None


def configured_url(gateway: Gateway) -> str:
    """The address of a gateway with these settings, on the machine it runs on."""
    if not gateway.port:
        raise ConfigError(
            "gateway.port is 0, so the gateway takes another port at each start",
            remedy=f"Give its address, which it prints at its start, with --url or {URL_VARIABLE}.",
        )
    scheme = "https" if gateway.tls else "http"
    return f"{scheme}://{_reachable(gateway.host)}:{gateway.port}"


def _reachable(host: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:  # it listens everywhere, loopback included
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return f"[{address}]" if address.version == 6 else host


def _key(file: Path | None, environ: Mapping[str, str]) -> str:
    if file is None:
        key, problem = environ.get(KEY_VARIABLE, "").strip(), "no key for the gateway"
        if key:
            return key
    else:
        problem = "key file does not hold exactly one key"
        try:
            with file.open(encoding="utf-8", errors="replace") as text:
                key = text.read(_MAX_KEY).strip()
            if len(key.split()) == 1:
                return key
        except OSError as error:
            problem = f"key file cannot be read ({error.strerror})"
    raise ConfigError(problem, where=str(file or ""), remedy=_CREATE_KEY)


@contextlib.contextmanager
def command_line_errors() -> Iterator[None]:
    """Replace the remedies of the client's errors, which are for programs, by those for here."""
    try:
        yield
    except ClientError as error:
        remedy = error.remedy
        if isinstance(error, Unreachable) and remedy in ("", NOT_RUNNING):
            remedy = _START
        elif isinstance(error, Denied) and error.code != Code.NO_RIGHTS.value:
            remedy = f"The key is from --key-file, or else from {KEY_VARIABLE}."
        elif not error.code and ("not trusted" in error.what or "another name" in error.what):
            remedy = _CERTIFICATE
        raise EvergridError(error.what, where=error.where, remedy=remedy) from None
