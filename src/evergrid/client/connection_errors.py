"""Errors for failed connections and HTTP answers, with their remedies."""

from __future__ import annotations

import os
import ssl

import aiohttp
import msgspec

from evergrid.client.client_errors import ClientError, Denied, Rejected, Unreachable, gateway_error
from evergrid.protocol.error_codes import Code


class _Details(msgspec.Struct, frozen=True):
    code: str
    message: str
    retry: bool = False


class _Body(msgspec.Struct, frozen=True):
    error: _Details


_bodies = msgspec.json.Decoder(_Body)

NOT_RUNNING = "Check the address, and that the gateway runs."
_NOT_A_GATEWAY = "Check the address: the server there may not be an Evergrid gateway."

# Verification codes of OpenSSL.
_NOT_YET_VALID, _EXPIRED = 9, 10
_NAME_MISMATCH = (62, 64)  # of a host, of an address

# OpenSSL's reasons, by version, for an answer that is not TLS.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")


def connection_error(error: Exception, where: str, *, known: bool = False) -> ClientError:
    """The error for a connection that failed.

    A gateway that is `known` was connected before. Then a certificate or TLS error is temporary,
    for example while its certificate is renewed or another server answers at its address.
    """
    final = _certificate_problem(error) or _tls_problem(error)
    if final is not None:
        what, remedy = final
        kind = Unreachable if known else Rejected
        return kind(what, where=where, remedy=remedy, retry=known)
    remedy = NOT_RUNNING
    if isinstance(error, aiohttp.ServerDisconnectedError) and where.startswith("http:"):
        remedy = "Write the address with https:// if the gateway has TLS, or correct its port."
    what = f"connection to the gateway failed ({_reason(error)})"
    return Unreachable(what, where=where, remedy=remedy, retry=True)


def _certificate_problem(error: Exception) -> tuple[str, str] | None:
    """What is wrong with the gateway's certificate, and the remedy."""
    if not isinstance(error, aiohttp.ClientConnectorCertificateError):
        return None
    cause = error.certificate_error
    words = getattr(cause, "verify_message", "") or str(cause)
    code = getattr(cause, "verify_code", 0)
    if code == _EXPIRED:
        return (
            "certificate of the gateway has expired",
            "Ask the gateway's operator to renew it, and compare the clocks.",
        )
    if code == _NOT_YET_VALID:
        return "certificate of the gateway is not valid yet", "Compare the clocks."
    if code in _NAME_MISMATCH:
        return (
            f"certificate of the gateway is for another name ({words.rstrip('.')})",
            "Use an address with a name that the certificate has.",
        )
    return (
        f"certificate of the gateway is not trusted ({words})",
        "Pass ca= with the PEM file of the authority that signed it.",
    )


def _tls_problem(error: Exception) -> tuple[str, str] | None:
    tls_error = _tls_error(error)
    if tls_error is None or tls_error.reason not in _NO_TLS:
        return None
    return (
        "TLS handshake failed: the server does not use TLS",
        "Write the address with http:// if the gateway has no TLS, or correct its port.",
    )


def _tls_error(error: Exception) -> ssl.SSLError | None:
    """The TLS error in an error of aiohttp."""
    cause = getattr(error, "os_error", error)
    return cause if isinstance(cause, ssl.SSLError) else None


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    tls_error = _tls_error(error)
    if tls_error is not None:  # its number is not one of the system's
        words = (tls_error.reason or "connection closed").replace("_", " ").lower()
        return f"TLS: {words}"
    if isinstance(error, OSError) and error.errno:
        # Errors of name resolution have negative numbers, and messages of their own.
        return os.strerror(error.errno) if error.errno > 0 else str(error.strerror)
    return str(error) or type(error).__name__


def http_error(status: int, where: str, body: bytes = b"") -> ClientError:
    """The error for an HTTP answer with this status; the gateway's own message if it sent one."""
    try:
        details = _bodies.decode(body).error
    except (msgspec.MsgspecError, ValueError):
        return _by_status(status, where)
    return gateway_error(details.code, details.message, retry=details.retry, where=where)


def _by_status(status: int, where: str) -> ClientError:
    if status == Code.BAD_KEY.http:
        return gateway_error(
            Code.BAD_KEY.value, "authentication failed: invalid key", retry=False, where=where
        )
    if status == Code.NO_RIGHTS.http:
        return Denied(f"HTTP status {status}", where=where, remedy=_NOT_A_GATEWAY)
    if status in (408, 425, 429) or status >= 500:
        return Unreachable(f"HTTP status {status}", where=where, retry=True)
    return Rejected(f"HTTP status {status}", where=where, remedy=_NOT_A_GATEWAY)
