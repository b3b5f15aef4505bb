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
from collections.abc import Mapping, Sequence
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


class Reply(enum.IntEnum):
    """What a broker does with what we send; the best reply of several brokers counts for all."""

    SILENCE = 0  # it tells nothing: a broker may be slow, or stuck
    CLOSED = 1  # or it uses another protocol
    ANSWER = 2


_SECONDS = 3.0
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


def reply_to_tls(connection: Connection) -> Reply:
    """Whether the brokers use TLS."""
    return _best_reply(connection, _without_verification(), b"")


def reply(connection: Connection) -> Reply:
    """What the brokers do with the first request of a client."""
    who = identity(connection)
    context = _without_verification() if who.protocol.endswith("SSL") else None
    return _best_reply(connection, context, _VERSIONS if who.mechanism else _METADATA)


def _best_reply(connection: Connection, context: ssl.SSLContext | None, request: bytes) -> Reply:
    best = Reply.SILENCE
    for host, port in addresses(connection):
        best = max(best, _reply(context, request, host, port))
        if best is Reply.ANSWER:
            break
    return best


def _reply(context: ssl.SSLContext | None, request: bytes, host: str, port: int) -> Reply:
    """The reply to a TLS handshake, if there is a context, and then to a request, if any."""
    try:
        link = socket.create_connection((host, port), _SECONDS)
        with context.wrap_socket(link, server_hostname=host) if context else link as link:
            link.sendall(request)
            return Reply.ANSWER if not request or link.recv(1) else Reply.CLOSED
    except ConnectionRefusedError:
        return Reply.SILENCE
    except (ConnectionError, ssl.SSLEOFError):
        return Reply.CLOSED
    except ssl.SSLError as error:  # most are about certificates; an alert is an answer as well
        return Reply.CLOSED if error.reason == "WRONG_VERSION_NUMBER" else Reply.ANSWER
    except OSError:
        return Reply.SILENCE


def _without_verification() -> ssl.SSLContext:
    """For a connection that sends no secret."""
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
