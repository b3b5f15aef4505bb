"""The errors of the client; a bad address or a missing key is a `ConfigError`.

    EvergridError
    └── ClientError      has `retry`: whether the same call may succeed later
        ├── Denied       authentication failed, or the key has no right to this
        ├── Rejected     the gateway rejected the request; `code` says why
        ├── Unreachable  connection failed or timed out
        └── Closed       the client was closed before or during the call

`code` is the gateway's error code (docs/protocol.md has the list). It is text and not an enum,
because a newer gateway may have codes that this client does not know.
"""

from __future__ import annotations

import os
import ssl

import aiohttp
import msgspec

from evergrid.model.errors import EvergridError
from evergrid.protocol.error_codes import Code


class ClientError(EvergridError):
    """A request to a gateway failed."""

    def __init__(
        self, what: str, *, where: str = "", remedy: str = "", code: str = "", retry: bool = False
    ) -> None:
        self.code = code
        self.retry = retry
        super().__init__(what, where=where, remedy=remedy)


class Denied(ClientError):
    """Authentication failed, or the key has no right to this."""


class Rejected(ClientError):
    """The gateway rejected the request."""


class Unreachable(ClientError):
    """The connection to the gateway failed, timed out or was lost."""


class Closed(ClientError):
    """The client, or this window, is closed."""


NOT_RUNNING = "Check the address, and that the gateway runs."
_NOT_A_GATEWAY = "Check the address: the server there may not be an Evergrid gateway."
_KEY = "Pass the key that `evergrid key create` printed, or set EVERGRID_KEY to it."

# Remedies in Python, in addition to the gateway's own message.
_REMEDIES = {
    Code.BAD_KEY.value: _KEY,
    Code.NOT_LOGGED_IN.value: _KEY,
    Code.NO_SUCH_TABLE.value: "`tables()` lists the tables.",
    Code.UNKNOWN_COLUMN.value: "`table(name).columns` lists the columns.",
    Code.UNSUPPORTED_PROTOCOL.value: "Install the version of the client that the gateway has.",
}

_DENIALS = {
    code.value for code in (Code.BAD_KEY, Code.KEY_EXPIRED, Code.NOT_LOGGED_IN, Code.NO_RIGHTS)
}

# What is wrong with a certificate, and the remedy, by OpenSSL's verification code.
_NOT_TRUSTED = (
    "is not trusted ({})",
    "Pass ca= with the PEM file of the authority that signed it.",
)
_OTHER_NAME = ("is for another name ({})", "Use an address with a name that the certificate has.")
_CERTIFICATE_PROBLEMS = {
    9: ("is not valid yet", "Compare the clocks."),
    10: ("has expired", "Ask the gateway's operator to renew it, and compare the clocks."),
    62: _OTHER_NAME,  # of a host
    64: _OTHER_NAME,  # of an IP address
}

# OpenSSL's reasons, by version, for an answer that is not TLS.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")


class _Details(msgspec.Struct, frozen=True):
    code: str
    message: str
    retry: bool = False


class _Body(msgspec.Struct, frozen=True):
    error: _Details


def closed(where: str = "") -> Closed:
    """The error for a call of a client that is closed."""
    return Closed("the client is closed", where=where, remedy="Create another with connect().")


def gateway_error(code: str, message: str, *, retry: bool, where: str = "") -> ClientError:
    """The error for a code and message of the gateway."""
    kind = Denied if code in _DENIALS else Rejected
    return kind(message, where=where, remedy=_REMEDIES.get(code, ""), code=code, retry=retry)


def http_error(status: int, where: str, body: bytes = b"") -> ClientError:
    """The error for an HTTP answer with this status; the gateway's own message if it sent one."""
    try:
        sent = msgspec.json.decode(body, type=_Body).error
    except (msgspec.MsgspecError, ValueError):
        what = f"HTTP status {status}"
    else:
        return gateway_error(sent.code, sent.message, retry=sent.retry, where=where)
    if status == Code.BAD_KEY.http:
        what = "authentication failed: invalid key"
        return gateway_error(Code.BAD_KEY.value, what, retry=False, where=where)
    if status in (408, 425, 429) or status >= 500:
        return Unreachable(what, where=where, retry=True)
    if 300 <= status < 400:
        what = f"redirect (HTTP status {status}) not followed: the key is for this address alone"
    kind = Denied if status == Code.NO_RIGHTS.http else Rejected
    return kind(what, where=where, remedy=_NOT_A_GATEWAY)


def connection_error(error: Exception, where: str, *, known: bool = False) -> ClientError:
    """The error for a connection that failed.

    A gateway that is `known` was connected before. Then a certificate or TLS error is temporary,
    for example while its certificate is renewed or another server answers at its address.
    """
    cause = getattr(error, "os_error", error)  # of aiohttp's errors
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        what, remedy = _certificate_problem(error.certificate_error)
    elif isinstance(cause, ssl.SSLError) and cause.reason in _NO_TLS:
        what = "TLS handshake failed: the server does not use TLS"
        remedy = "Write the address with http:// if the gateway has no TLS, or correct its port."
    else:
        remedy = NOT_RUNNING
        if isinstance(error, aiohttp.ServerDisconnectedError) and where.startswith("http:"):
            remedy = "Write the address with https:// if the gateway has TLS, or correct its port."
        what = f"connection to the gateway failed ({_reason(error, cause)})"
        return Unreachable(what, where=where, remedy=remedy, retry=True)
    kind = Unreachable if known else Rejected
    return kind(what, where=where, remedy=remedy, retry=known)


def _certificate_problem(cause: Exception) -> tuple[str, str]:
    code = getattr(cause, "verify_code", 0)
    words = getattr(cause, "verify_message", "") or str(cause)
    what, remedy = _CERTIFICATE_PROBLEMS.get(code, _NOT_TRUSTED)
    return f"certificate of the gateway {what.format(words.rstrip('.'))}", remedy


def _reason(error: Exception, cause: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(cause, ssl.SSLError):  # its number is not one of the system's
        return f"TLS: {(cause.reason or 'connection closed').replace('_', ' ').lower()}"
    if isinstance(error, OSError) and error.errno:
        # Errors of name resolution have negative numbers, and messages of their own.
        return os.strerror(error.errno) if error.errno > 0 else str(error.strerror)
    return str(error) or type(error).__name__
