"""Knocking at a broker's address by hand, to learn what a client's error does not tell.

librdkafka says of an expired certificate that it could not be verified, and of a broker that
speaks TLS that it went away.
"""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from evergrid.config.settings import Connection
from evergrid.kafka.properties import python_properties
from evergrid.kafka.words import TOKEN_ENDPOINT
from evergrid.model.errors import ConfigError

Address = tuple[str, int]

_SECONDS = 3.0
_ADDRESS = re.compile(r"(?:[A-Z_]+://)?(?:\[([^\]]+)\]|([^:]+)):(\d+)")


def addresses(connection: Connection) -> list[Address]:
    """Host and port of each broker that the connection names."""
    found = map(_ADDRESS.fullmatch, re.split(r"\s*,\s*", connection.bootstrap.strip()))
    return [(match[1] or match[2], int(match[3])) for match in found if match]


def token_endpoint(connection: Connection) -> list[Address]:
    """Host and port of the token endpoint; none when there is no such thing."""
    with contextlib.suppress(ConfigError, ValueError):
        url = urlsplit(python_properties(connection).get(TOKEN_ENDPOINT, ""))
        if url.hostname:
            return [(url.hostname, url.port or (443 if url.scheme == "https" else 80))]
    return []


def unreached(places: Sequence[Address]) -> str:
    """Why nobody answers at any of the addresses; empty when somebody does."""
    reasons = []
    for host, port in places:
        try:
            socket.create_connection((host, port), _SECONDS).close()
        except OSError as error:
            reasons.append(f"{host}:{port}: {_reason(error)}")
        else:
            return ""
    return "; ".join(reasons) or "no address"


def untrusted(connection: Connection) -> str:
    """Why a certificate that a broker shows is not taken; empty when it is."""
    return _untrusted(connection, addresses(connection), "ssl.ca")


def untrusted_endpoint(connection: Connection) -> str:
    """The same for the token endpoint."""
    return _untrusted(connection, token_endpoint(connection), "https.ca")


def _untrusted(connection: Connection, places: Sequence[Address], authority: str) -> str:
    with contextlib.suppress(ConfigError, OSError):
        context = _context(python_properties(connection.renewed()), authority)
        for host, port in places:
            try:
                _shake_hands(context, host, port)
            except ssl.SSLCertVerificationError as error:
                return error.verify_message
            except OSError:
                continue
            return ""
    return ""


def speaks_tls(connection: Connection) -> bool:
    """Whether TLS is spoken at the addresses, whoever it is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    for host, port in addresses(connection):
        with contextlib.suppress(OSError):
            _shake_hands(context, host, port)
            return True
    return False


def _shake_hands(context: ssl.SSLContext, host: str, port: int) -> None:
    with socket.create_connection((host, port), _SECONDS) as plain:
        context.wrap_socket(plain, server_hostname=host).close()


def _context(given: Mapping[str, str], authority: str) -> ssl.SSLContext:
    """What the Python client trusts, as Python's own TLS has it."""
    file, text = given.get(f"{authority}.location"), given.get(f"{authority}.pem")
    context = ssl.create_default_context(cafile=file or None, cadata=text or None)
    if authority != "ssl.ca":
        return context
    if given.get("ssl.endpoint.identification.algorithm") == "none":
        context.check_hostname = False
    if given.get("enable.ssl.certificate.verification") == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    return (error.strerror or str(error)).lower()
