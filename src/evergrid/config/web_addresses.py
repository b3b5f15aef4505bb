"""Addresses of the web: where to listen, names to be asked for by, origins of pages.

Read into the one spelling that browsers send, because the gateway compares them letter by
letter.
"""

from __future__ import annotations

import ipaddress
import re

from evergrid.config.value_types import Value

HIGHEST_PORT = 65535
DEFAULT_PORTS = {"http": 80, "https": 443}

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*")
_WITH_PORT = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*)(?::([1-9][0-9]{0,4}))?")


def _plain(text: str) -> str:
    """`text` in lower case; only ASCII, for other letters can turn into ASCII ones by that."""
    if not text.isascii():
        raise ValueError
    return text.lower()


def _name(text: str) -> str:
    """A host's name or IPv4 address. What ends in a number is an address, or nothing."""
    if not _NAME.fullmatch(text):
        raise ValueError
    if text.rpartition(".")[2].isdigit():
        ipaddress.IPv4Address(text)
    return text


def _host(text: str) -> str:
    match = _WITH_PORT.fullmatch(_plain(text))
    if match is None or int(match[2] or 0) > HIGHEST_PORT:
        raise ValueError
    name = match[1]
    if name.startswith("["):
        address = ipaddress.IPv6Address(name[1:-1])
        if address.scope_id is not None:  # no browser asks by one
            raise ValueError
        name = f"[{address}]"
    else:
        name = _name(name)
    return f"{name}:{match[2]}" if match[2] else name


def _listen_address(text: str) -> str:
    plain = _plain(text)
    if ":" in plain:
        return str(ipaddress.IPv6Address(plain))
    return _name(plain)


def _origin(text: str) -> str:
    scheme, separator, rest = _plain(text).partition("://")
    if not separator or scheme not in DEFAULT_PORTS:
        raise ValueError
    return f"{scheme}://{_host(rest)}".removesuffix(f":{DEFAULT_PORTS[scheme]}")


LISTEN = Value(
    _listen_address,
    "an address of this machine such as 127.0.0.1, ::1 or 0.0.0.0, or its name",
    "Write it without a scheme and a port.",
    "127.0.0.1",
)
HOST = Value(
    _host,
    "a host's name or address such as grid.example.com, with or without a port",
    "Write it as it stands in the browser's address bar, without https:// and without a path; "
    "each name by itself, no * in it.",
    "localhost",
)
ORIGIN = Value(
    _origin,
    "a site's address such as https://portal.example.com",
    "Write http:// or https://, the name, and the port if it has one; no path, no *.",
    "http://localhost",
)
