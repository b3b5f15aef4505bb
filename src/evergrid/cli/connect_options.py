"""Where the gateway is and which key opens it, for commands that ask one."""

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

_MAKE_ONE = (
    "Make one with `evergrid key create NAME > my.key` where the gateway runs, and add "
    f"--key-file my.key, or set {KEY_VARIABLE}."
)
_WELL_WRITTEN = (
    "Write the address like http://127.0.0.1:8080, and the key not in it but in a file "
    f"(--key-file) or in {KEY_VARIABLE}."
)
_TRUSTED = (
    "Add --ca with the PEM file of the authority that signed it, and ask for the gateway (--url) "
    "by the name that is in the certificate."
)
_LONGEST_KEY = 4096
_LONGEST_WAIT_SECONDS = 3.0  # between two tries to connect again: a person looks on


class Contact(msgspec.Struct, frozen=True):
    """What it takes to ask a gateway; printing it does not print the key."""

    url: str
    key: str
    ca: Path | None = None

    def __repr__(self) -> str:
        return f"Contact({self.url!r})"


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
        help=f"a file with the key (default: the key in {KEY_VARIABLE}). It cannot be an argument: "
        "everybody on this machine can read those in the list of processes",
    )
    parser.add_argument(
        "--ca",
        type=Path,
        metavar="FILE",
        help="PEM file of the authority that signed the gateway's certificate (default: those "
        "the system trusts)",
    )


def contact(gateway: Gateway, options: argparse.Namespace, environ: Mapping[str, str]) -> Contact:
    """The gateway that the options, the environment or the configuration name."""
    url = options.url or environ.get(URL_VARIABLE) or configured_url(gateway)
    return Contact(url, _key(options.key_file, environ), options.ca)


def configured_url(gateway: Gateway) -> str:
    """Where a gateway with these settings is found from the machine it runs on."""
    if not gateway.port:
        raise ConfigError(
            "the gateway's port is another at each start (0)",
            where="gateway.port",
            remedy=f"Give its address with --url or {URL_VARIABLE}: it says it when it starts.",
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
            raise ConfigError("there is no key for the gateway", remedy=_MAKE_ONE)
        return key
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            key = text.read(_LONGEST_KEY).strip()
    except OSError as error:
        raise ConfigError(
            f"the key cannot be read ({error.strerror})", where=str(file), remedy=_MAKE_ONE
        ) from None
    if len(key.split()) != 1:
        raise ConfigError("there is not one key in it", where=str(file), remedy=_MAKE_ONE)
    return key


def connected(contact: Contact) -> Client:
    """A client that has reached the gateway."""
    # Arrow and the web client take a moment to import, which --help need not wait for.
    from evergrid.client import Patience, connect
    from evergrid.client.address import address

    try:
        address(contact.url, contact.key)
    except ConfigError as error:
        raise ConfigError(error.what, where=error.where, remedy=_WELL_WRITTEN) from None
    patience = Patience(longest_wait=_LONGEST_WAIT_SECONDS)
    return connect(contact.url, contact.key, ca=contact.ca, patience=patience)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Let the client's errors say what to do on a command line, not in a program."""
    from evergrid.client import ClientError

    try:
        yield
    except ClientError as error:
        remedy = _remedy(error) or error.remedy
        raise EvergridError(error.what, where=error.where, remedy=remedy) from None


def _remedy(error: ClientError) -> str:
    from evergrid.client import Denied, Unreachable
    from evergrid.client.refusals import NOBODY
    from evergrid.protocol.codes import Code

    if isinstance(error, Unreachable) and error.remedy in ("", NOBODY):
        return "Start it with `evergrid gateway` or `evergrid run`, or say where it is with --url."
    if isinstance(error, Denied) and error.code != Code.NO_RIGHTS.value:
        return f"It was taken from --key-file, or else from {KEY_VARIABLE}."
    if not error.code and any(words in error.what for words in ("not trusted", "another name")):
        return _TRUSTED
    return ""
