"""The gateway's address and key, for commands that connect to one."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
from collections.abc import Iterator, Mapping
from pathlib import Path

from evergrid.client import ClientError, Denied, Unreachable
from evergrid.client.address import KEY_VARIABLE, Address, address
from evergrid.client.client_errors import NOT_RUNNING
from evergrid.config.settings import Gateway
from evergrid.model.errors import ConfigError, EvergridError
from evergrid.protocol.error_codes import Code

URL_VARIABLE = "EVERGRID_URL"

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
