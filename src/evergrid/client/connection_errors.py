"""What went wrong on the way to a gateway, as errors that say what to do."""

from __future__ import annotations

import os
import ssl

import aiohttp
import msgspec

from evergrid.client.errors import ClientError, Denied, Rejected, Unreachable, told
from evergrid.protocol.codes import Code


class _Details(msgspec.Struct, frozen=True):
    code: str
    message: str
    retry: bool = False


class _Body(msgspec.Struct, frozen=True):
    error: _Details


_bodies = msgspec.json.Decoder(_Body)

NOBODY = "Check the address, and that the gateway runs."
_NOT_A_GATEWAY = "Check the address: what answers there may not be an Evergrid gateway."


# OpenSSL's numbers for what is wrong with a certificate.
_NOT_YET_VALID, _EXPIRED = 9, 10
_OTHER_NAMES = (62, 64)  # of a host, of an address

# What OpenSSL makes of an answer that is no TLS, by version.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")


def unreachable(error: Exception, where: str, *, known: bool = False) -> ClientError:
    """Nobody answered, or somebody who is not to be trusted.

    A gateway that is `known` was trusted before: then this passes, as when its certificate
    is renewed or something else answers at its address while it starts again.
    """
    final = _untrusted(error) or _no_tls(error)
    if final is not None:
        what, remedy = final
        kind = Unreachable if known else Rejected
        return kind(what, where=where, remedy=remedy, retry=known)
    remedy = NOBODY
    if isinstance(error, aiohttp.ServerDisconnectedError) and where.startswith("http:"):
        remedy = "Write the address with https:// if the gateway has TLS, or correct its port."
    what = f"the gateway cannot be reached ({_reason(error)})"
    return Unreachable(what, where=where, remedy=remedy, retry=True)


def _untrusted(error: Exception) -> tuple[str, str] | None:
    """What is wrong with the gateway's certificate, and what to do."""
    if not isinstance(error, aiohttp.ClientConnectorCertificateError):
        return None
    cause = error.certificate_error
    words = getattr(cause, "verify_message", "") or str(cause)
    code = getattr(cause, "verify_code", 0)
    if code == _EXPIRED:
        return (
            "the gateway's certificate has expired",
            "Have who runs the gateway renew it, and compare the clocks.",
        )
    if code == _NOT_YET_VALID:
        return "the gateway's certificate is not valid yet", "Compare the clocks."
    if code in _OTHER_NAMES:
        return (
            f"the gateway's certificate is for another name ({words.rstrip('.')})",
            "Address the gateway by a name that its certificate has.",
        )
    return (
        f"the gateway's certificate is not trusted ({words})",
        "Pass ca= with the PEM file of the authority that signed it.",
    )


def _no_tls(error: Exception) -> tuple[str, str] | None:
    secured = _secured(error)
    if secured is None or secured.reason not in _NO_TLS:
        return None
    return (
        "what answers here does not speak TLS",
        "Write the address with http:// if the gateway is without, or correct its port.",
    )


def _secured(error: Exception) -> ssl.SSLError | None:
    """The error of TLS in one of the way to the gateway."""
    cause = getattr(error, "os_error", error)
    return cause if isinstance(cause, ssl.SSLError) else None


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    secured = _secured(error)
    if secured is not None:  # whose numbers are none of the system's
        words = (secured.reason or "the connection ended").replace("_", " ").lower()
        return f"TLS: {words}"
    if isinstance(error, OSError) and error.errno:
        # Names that cannot be resolved have negative numbers, and words of their own.
        return os.strerror(error.errno) if error.errno > 0 else str(error.strerror)
    return str(error) or type(error).__name__


def refused(status: int, where: str, body: bytes = b"") -> ClientError:
    """An HTTP answer that is not what was asked for: the gateway's words when it has some."""
    try:
        details = _bodies.decode(body).error
    except (msgspec.MsgspecError, ValueError):
        return _by_status(status, where)
    return told(details.code, details.message, retry=details.retry, where=where)


def _by_status(status: int, where: str) -> ClientError:
    if status == Code.BAD_KEY.http:
        return told(Code.BAD_KEY.value, "the key is not accepted", retry=False, where=where)
    if status == Code.NO_RIGHTS.http:
        return Denied(f"the answer was {status}", where=where, remedy=_NOT_A_GATEWAY)
    if status in (408, 425, 429) or status >= 500:
        return Unreachable(f"the answer was {status}", where=where, retry=True)
    return Rejected(f"the answer was {status}", where=where, remedy=_NOT_A_GATEWAY)
