"""Every error the client raises on purpose, beside `ConfigError` for a bad address or no key.

    EvergridError
    └── ClientError      has `retry`: whether the same call may work a little later
        ├── Denied       the key is wrong, expired or may not do this
        ├── Rejected     the gateway cannot answer what was asked; `code` says why
        ├── Unreachable  nobody answers, or not in time
        └── Closed       the client was closed before or while it was asked

`code` is the gateway's word (docs/protocol.md has the list). It is text and not an enum,
because a newer gateway may know codes that this client does not.
"""

from __future__ import annotations

from evergrid.model.errors import EvergridError
from evergrid.protocol.codes import Code


class ClientError(EvergridError):
    """Something asked of a gateway was not to be had."""

    def __init__(
        self, what: str, *, where: str = "", remedy: str = "", code: str = "", retry: bool = False
    ) -> None:
        self.code = code
        self.retry = retry
        super().__init__(what, where=where, remedy=remedy)


class Denied(ClientError):
    """The key does not open this door."""


class Rejected(ClientError):
    """The gateway understood and said no."""


class Unreachable(ClientError):
    """No gateway answers at this address, or not any more."""


class Closed(ClientError):
    """The client, or this window, is closed."""


_KEY = "Pass the key that `evergrid key create` printed, or set EVERGRID_KEY to it."

# Beyond what the gateway's own sentence says: what helps in Python.
_REMEDIES = {
    Code.BAD_KEY.value: _KEY,
    Code.NOT_LOGGED_IN.value: _KEY,
    Code.NO_SUCH_TABLE.value: "`tables()` lists those there are.",
    Code.UNKNOWN_COLUMN.value: "`table(name).columns` lists those there are.",
    Code.UNSUPPORTED_PROTOCOL.value: "Install the client of the gateway's version.",
}

_DENIALS = {
    code.value for code in (Code.BAD_KEY, Code.KEY_EXPIRED, Code.NOT_LOGGED_IN, Code.NO_RIGHTS)
}


def told(code: str, message: str, *, retry: bool, where: str = "") -> ClientError:
    """The error that a gateway's refusal becomes."""
    kind = Denied if code in _DENIALS else Rejected
    return kind(message, where=where, remedy=_REMEDIES.get(code, ""), code=code, retry=retry)
