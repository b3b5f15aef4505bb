"""What went wrong on the way to a gateway, as errors that say what to do."""

from __future__ import annotations

import os

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

_NOT_A_GATEWAY = "Check the address: what answers there may not be an Evergrid gateway."


def unreachable(error: Exception, where: str) -> ClientError:
    """Nobody answered, or somebody whose certificate is not to be trusted."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        cause = getattr(error, "certificate_error", error)
        return Rejected(
            "the gateway's certificate is not trusted "
            f"({getattr(cause, 'verify_message', '') or cause})",
            where=where,
            remedy="Pass ca= with the PEM file of the authority that signed it.",
        )
    return Unreachable(
        f"the gateway cannot be reached ({_reason(error)})",
        where=where,
        remedy="Check the address, and that the gateway runs.",
        retry=True,
    )


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
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
