"""The gateway's address and key, for commands that connect to one."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from evergrid.config.settings import Gateway
from evergrid.model.errors import ConfigError, EvergridError

if TYPE_CHECKING:
    from evergrid.client import Client, ClientError

URL_VARIABLE = "EVERGRID_URL"
KEY_VARIABLE = "EVERGRID_KEY"

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
_MAX_KEY = 4096
_MAX_BACKOFF_SECONDS = 3.0  # short, because a person waits


class ConnectOptions(msgspec.Struct, frozen=True):
    """What it takes to connect to a gateway; printing it does not print the key."""

    url: str
    key: str
    ca: Path | None = None

    def __repr__(self) -> str:
        return f"ConnectOptions({self.url!r})"


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def from_arguments(
    gateway: Gateway, options: argparse.Namespace, environ: Mapping[str, str]
) -> ConnectOptions:
    """The gateway that the options, the environment or the configuration name."""
    url = options.url or environ.get(URL_VARIABLE) or configured_url(gateway)
    return ConnectOptions(url, _key(options.key_file, environ), options.ca)


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
        key = environ.get(KEY_VARIABLE, "").strip()
        if not key:
            raise ConfigError("no key for the gateway", remedy=_CREATE_KEY)
        return key
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            key = text.read(_MAX_KEY).strip()
    except OSError as error:
        raise ConfigError(
            f"key file cannot be read ({error.strerror})", where=str(file), remedy=_CREATE_KEY
        ) from None
    if len(key.split()) != 1:
        raise ConfigError(
            "key file does not hold exactly one key", where=str(file), remedy=_CREATE_KEY
        )
    return key


def connect(options: ConnectOptions) -> Client:
    """A client that has connected to the gateway."""
    # Arrow and the web client take a moment to import, which --help need not wait for.
    from evergrid.client import Patience
    from evergrid.client import connect as connect_client
    from evergrid.client.address import address

    try:
        address(options.url, options.key)
    except ConfigError as error:
        raise ConfigError(error.what, where=error.where, remedy=_ADDRESS_FORMAT) from None
    patience = Patience(longest_wait=_MAX_BACKOFF_SECONDS)
    return connect_client(options.url, options.key, ca=options.ca, patience=patience)


@contextlib.contextmanager
def command_line_errors() -> Iterator[None]:
    """Replace the remedies of the client's errors, which are for programs, by those for here."""
    from evergrid.client import ClientError

    try:
        yield
    except ClientError as error:
        remedy = _remedy(error) or error.remedy
        raise EvergridError(error.what, where=error.where, remedy=remedy) from None


def _remedy(error: ClientError) -> str:
    from evergrid.client import Denied, Unreachable
    from evergrid.client.client_errors import NOT_RUNNING
    from evergrid.protocol.error_codes import Code

    if isinstance(error, Unreachable) and error.remedy in ("", NOT_RUNNING):
        return "Start it with `evergrid gateway` or `evergrid run`, or give its address with --url."
    if isinstance(error, Denied) and error.code != Code.NO_RIGHTS.value:
        return f"The key is from --key-file, or else from {KEY_VARIABLE}."
    if not error.code and any(words in error.what for words in ("not trusted", "another name")):
        return _CERTIFICATE
    return ""
