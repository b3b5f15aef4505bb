"""Knocking at a broker's address by hand, to learn what a client's error does not tell.

librdkafka says of an expired certificate that it could not be verified, and of a broker that
speaks TLS that it went away.
"""

from __future__ import annotations

import contextlib
import enum
import re
import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from evergrid.config.settings import Connection
from evergrid.kafka.identity import identity
from evergrid.kafka.pem import blocks
from evergrid.kafka.properties import python_properties
from evergrid.kafka.property_names import TOKEN_ENDPOINT
from evergrid.model.errors import ConfigError

Address = tuple[str, int]


class Speech(enum.Enum):
    """What is spoken at an address. Silence is no language: a broker may be slow, or stuck."""

    TLS = "TLS"  # an alert is TLS too
    OTHER = "another"  # or they hang up on who speaks TLS
    SILENCE = "none"


class Reply(enum.Enum):
    """What becomes of a question that a client asks first."""

    ANSWER = "answered"
    HANG_UP = "hung up on"
    SILENCE = "left open"


_SECONDS = 3.0
_TLS_RECORD = re.compile(rb"[\x15\x16](\x03|$)")  # an alert or a handshake, of any version
_ADDRESS = re.compile(r"(?:[A-Z_]+://)?(?:\[([^\]]+)\]|([^:]+)):(\d+)")


def _question(kind: int, version: int, body: bytes) -> bytes:
    name = b"evergrid"
    request = struct.pack(f">hhih{len(name)}s", kind, version, 1, len(name), name) + body
    return struct.pack(">i", len(request)) + request


# Kafka's own words. Which versions a broker knows it tells everybody; what there is, only who need
# not log in, or has: it hangs up on others. Of no topic, so nobody needs a right.
_VERSIONS = _question(18, 0, b"")
_METADATA = _question(3, 4, struct.pack(">i?", 0, False))


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
    # Python's TLS has errors of its own for settings that it cannot read.
    with contextlib.suppress(ConfigError, OSError, TypeError, ValueError):
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


def speech(connection: Connection) -> Speech:
    """What the brokers speak, whoever they are; what one of them says counts for all."""
    heard = set()
    for host, port in addresses(connection):
        found = _speech(host, port)
        if found is Speech.TLS:
            return found
        heard.add(found)
    return Speech.OTHER if Speech.OTHER in heard else Speech.SILENCE


def reply(connection: Connection) -> Reply:
    """How the brokers take what a client of this connection would ask, before any login."""
    who = identity(connection)
    context = _trusting() if who.protocol.endswith("SSL") else None
    question = _VERSIONS if who.mechanism else _METADATA
    heard = set()
    for host, port in addresses(connection):
        found = _reply(context, question, host, port)
        if found is Reply.ANSWER:
            return found
        heard.add(found)
    return Reply.HANG_UP if Reply.HANG_UP in heard else Reply.SILENCE


def _speech(host: str, port: int) -> Speech:
    try:
        with socket.create_connection((host, port), _SECONDS) as way:
            way.sendall(_hello(host))
            first = way.recv(2)
    except OSError as error:
        return Speech.OTHER if _is_end(error) else Speech.SILENCE
    return Speech.TLS if _TLS_RECORD.match(first) else Speech.OTHER


def _reply(context: ssl.SSLContext | None, question: bytes, host: str, port: int) -> Reply:
    try:
        with socket.create_connection((host, port), _SECONDS) as plain:
            way = context.wrap_socket(plain, server_hostname=host) if context else plain
            with way:
                way.sendall(question)
                return Reply.ANSWER if way.recv(1) else Reply.HANG_UP
    except OSError as error:
        if _is_end(error):
            return Reply.HANG_UP
        # What else TLS complains of is an answer, though about certificates.
        return Reply.ANSWER if isinstance(error, ssl.SSLError) else Reply.SILENCE


def _is_end(error: OSError) -> bool:
    """Whether it was the other side who ended a connection."""
    if isinstance(error, ConnectionRefusedError):
        return False  # there was none
    return isinstance(error, ConnectionError | ssl.SSLEOFError)


def _hello(host: str) -> bytes:
    """How TLS begins."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    end = _trusting().wrap_bio(incoming, outgoing, server_hostname=host)
    with contextlib.suppress(ssl.SSLWantReadError):
        end.do_handshake()
    return outgoing.read()


def _trusting() -> ssl.SSLContext:
    """For talking to whoever it is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _shake_hands(context: ssl.SSLContext, host: str, port: int) -> None:
    with socket.create_connection((host, port), _SECONDS) as plain:
        context.wrap_socket(plain, server_hostname=host).close()


def _context(given: Mapping[str, str], authority: str) -> ssl.SSLContext:
    """What the Python client trusts, as Python's own TLS has it."""
    file, text = given.get(f"{authority}.location"), given.get(f"{authority}.pem", "")
    context = ssl.create_default_context(cafile=file or None, cadata=blocks(text) or text or None)
    # Which is Python's own wish since 3.13, and not the client's.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
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
