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


def gateway_error(code: str, message: str, *, retry: bool, where: str = "") -> ClientError:
    """The error for a code and message of the gateway."""
    kind = Denied if code in _DENIALS else Rejected
    return kind(message, where=where, remedy=_REMEDIES.get(code, ""), code=code, retry=retry)
