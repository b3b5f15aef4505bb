"""Connecting to a broker with a plain socket, to learn what a client's error does not tell.

librdkafka reports an expired certificate as one that could not be verified, and a broker that
expects TLS as a closed connection.
"""

from __future__ import annotations

import contextlib
import enum
import re
import socket
import ssl
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from evergrid.config.settings import Connection
from evergrid.kafka.certificates import pem_blocks
from evergrid.kafka.identity import identity
from evergrid.kafka.properties import python_properties
from evergrid.kafka.property_names import TOKEN_ENDPOINT
from evergrid.model.errors import ConfigError

Address = tuple[str, int]
# How the properties begin that name the authority of each.
BROKERS, ENDPOINT = "ssl.ca", "https.ca"


class WireProtocol(enum.Enum):
    """What an address uses. Silence tells nothing: a broker may be slow, or stuck."""

    TLS = "TLS"  # an alert is TLS too
    OTHER = "another"  # or the connection is closed when we begin TLS
    SILENCE = "none"


class Reply(enum.Enum):
    """What a broker does with the first request of a client."""

    ANSWER = "answered"
    CLOSED = "closed"
    SILENCE = "left open"


_Outcome = TypeVar("_Outcome", WireProtocol, Reply)

_SECONDS = 3.0
_TLS_RECORD = re.compile(rb"[\x15\x16](\x03|$)")  # an alert or a handshake, of any version
_ADDRESS = re.compile(r"(?:[A-Z_]+://)?(?:\[([^\]]+)\]|([^:]+)):(\d+)")


def _request(kind: int, version: int, body: bytes) -> bytes:
    name = b"evergrid"
    request = struct.pack(f">hhih{len(name)}s", kind, version, 1, len(name), name) + body
    return struct.pack(">i", len(request)) + request


# ApiVersions is answered for everybody. Metadata is answered only after the login, where there is
# one: otherwise the broker closes the connection. It asks for no topic, so it needs no right.
_VERSIONS = _request(18, 0, b"")
_METADATA = _request(3, 4, struct.pack(">i?", 0, False))


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


def why_unreachable(places: Sequence[Address]) -> str:
    """Why no address accepts a connection; empty when one does."""
    reasons = []
    for host, port in places:
        try:
            socket.create_connection((host, port), _SECONDS).close()
        except OSError as error:
            silent = isinstance(error, TimeoutError)
            reason = "no answer" if silent else (error.strerror or str(error)).lower()
            reasons.append(f"{host}:{port}: {reason}")
        else:
            return ""
    return "; ".join(reasons) or "no address"


def why_untrusted(connection: Connection, authority: str = BROKERS) -> str:
    """Why a certificate is not trusted, of a broker or of the token endpoint; empty when it is."""
    places = addresses(connection) if authority == BROKERS else token_endpoint(connection)
    # Python's TLS has errors of its own for settings that it cannot read.
    with contextlib.suppress(ConfigError, OSError, TypeError, ValueError):
        context = _context(python_properties(connection.renewed()), authority)
        for host, port in places:
            try:
                with socket.create_connection((host, port), _SECONDS) as plain:
                    context.wrap_socket(plain, server_hostname=host).close()
            except ssl.SSLCertVerificationError as error:
                return error.verify_message
            except OSError:
                continue
            return ""
    return ""


def wire_protocol(connection: Connection) -> WireProtocol:
    """Whether the brokers use TLS; one that does counts for all."""
    return _best(WireProtocol, (_wire_protocol(*at) for at in addresses(connection)))


def reply(connection: Connection) -> Reply:
    """What the brokers do with the first request of a client; one that answers counts for all."""
    who = identity(connection)
    context = _without_verification() if who.protocol.endswith("SSL") else None
    request = _VERSIONS if who.mechanism else _METADATA
    return _best(Reply, (_reply(context, request, *at) for at in addresses(connection)))


def _best(kind: type[_Outcome], outcomes: Iterator[_Outcome]) -> _Outcome:
    """The outcome that `kind` names first; no more are asked for when that is its first member."""
    best, *_, worst = members = list(kind)
    seen = {worst}
    for outcome in outcomes:
        seen.add(outcome)
        if outcome is best:
            break
    return min(seen, key=members.index)


def _wire_protocol(host: str, port: int) -> WireProtocol:
    try:
        with socket.create_connection((host, port), _SECONDS) as link:
            link.sendall(_client_hello(host))
            first = link.recv(2)
    except OSError as error:
        return WireProtocol.OTHER if _is_closed(error) else WireProtocol.SILENCE
    return WireProtocol.TLS if _TLS_RECORD.match(first) else WireProtocol.OTHER


def _reply(context: ssl.SSLContext | None, request: bytes, host: str, port: int) -> Reply:
    try:
        with socket.create_connection((host, port), _SECONDS) as plain:
            link = context.wrap_socket(plain, server_hostname=host) if context else plain
            with link:
                link.sendall(request)
                return Reply.ANSWER if link.recv(1) else Reply.CLOSED
    except OSError as error:
        if _is_closed(error):
            return Reply.CLOSED
        # Any other TLS error is an answer, though about certificates.
        return Reply.ANSWER if isinstance(error, ssl.SSLError) else Reply.SILENCE


def _is_closed(error: OSError) -> bool:
    """Whether the other side closed the connection."""
    if isinstance(error, ConnectionRefusedError):
        return False  # there was none
    return isinstance(error, ConnectionError | ssl.SSLEOFError)


def _client_hello(host: str) -> bytes:
    """The first message of a TLS handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    end = _without_verification().wrap_bio(incoming, outgoing, server_hostname=host)
    with contextlib.suppress(ssl.SSLWantReadError):
        end.do_handshake()
    return outgoing.read()


def _without_verification() -> ssl.SSLContext:
    """For a connection that sends no secret, to whoever answers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _context(given: Mapping[str, str], authority: str) -> ssl.SSLContext:
    """What the Python client trusts, as a context of Python's ssl."""
    file, text = given.get(f"{authority}.location"), given.get(f"{authority}.pem", "")
    context = ssl.create_default_context(
        cafile=file or None, cadata=pem_blocks(text) or text or None
    )
    # Python is strict by default since 3.13; the client is not.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if authority != BROKERS:
        return context
    if given.get("ssl.endpoint.identification.algorithm") == "none":
        context.check_hostname = False
    if given.get("enable.ssl.certificate.verification") == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
