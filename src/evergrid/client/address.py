"""The address of a gateway, with the key, the TLS settings and the timeouts for it."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import msgspec

from evergrid.model.errors import ConfigError

KEY_VARIABLE = "EVERGRID_KEY"

_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_EXAMPLE = "Write it like https://tables.example.com or http://127.0.0.1:8080."


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Timeouts in seconds.

    connect      to connect, and for the gateway's first message on the connection
    answer       for the next bytes of an HTTP answer; the first may need a view of millions of rows
    silence      without a message before the connection counts as lost; the gateway sends a
                 heartbeat every few seconds
    first_wait   before the second attempt to connect; each further wait is about twice as long
    longest_wait between two attempts, at most
    give_up      without a connection before open windows fail with `Unreachable`; None: never
    """

    connect: float = 10.0
    answer: float = 60.0
    silence: float = 15.0
    first_wait: float = 0.2
    longest_wait: float = 10.0
    give_up: float | None = None


Patience = Timeouts  # its name in earlier versions


@dataclass(frozen=True)
class Address:
    """A gateway's base address and the key for it; printing it does not print the key."""

    url: str
    key: str = field(repr=False)
    ca: str | None = None

    def tls(self) -> ssl.SSLContext | bool:
        """How to verify the gateway's certificate: with `ca`, or else as the system does."""
        if not self.url.startswith("https:"):
            return True
        try:
            context = ssl.create_default_context(cafile=self.ca)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"certificate file cannot be read ({error})",
                where=f"ca={self.ca}",
                remedy="Name a PEM file with the authority that signed the gateway's certificate.",
            ) from None
        if self.ca is not None:
            # Since 3.13 Python requires more of an authority than many company authorities have.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


def address(
    url: str,
    key: str | None = None,
    ca: str | Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Address:
    """The address for `url`, with `key` or the key in the environment."""
    parts = _parts(url)
    return Address(
        f"{_SCHEMES[parts.scheme]}://{parts.netloc}{parts.path.rstrip('/')}",
        _key(key or environment.get(KEY_VARIABLE, "")),
        None if ca is None else os.fspath(ca),
    )


def _parts(url: str) -> SplitResult:
    # Errors name only scheme and host, because the rest of a bad address may be a secret.
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port  # reading the port checks it
    except ValueError:
        raise ConfigError("invalid address of the gateway", remedy=_EXAMPLE) from None
    if parts.scheme not in _SCHEMES or not host:
        raise ConfigError("invalid address of the gateway: no scheme or no host", remedy=_EXAMPLE)
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            "invalid address of the gateway: more than scheme, host, port and path",
            where=f"{parts.scheme}://{host}",
            remedy="Pass the key as the second argument or in EVERGRID_KEY; addresses get logged.",
        )
    return parts


def _key(key: str) -> str:
    key = key.strip()
    if not key:
        raise ConfigError(
            "no key for the gateway",
            remedy=f"Pass one to connect() or set {KEY_VARIABLE}; `evergrid key create` makes one.",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "invalid key: it has characters that no key has",
            remedy="Pass exactly the line that `evergrid key create` printed.",
        )
    return key
