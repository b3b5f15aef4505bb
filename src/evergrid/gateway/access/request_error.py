"""A request that the gateway rejects, with the protocol's error code."""

from __future__ import annotations

from evergrid.model.errors import EvergridError
from evergrid.protocol.error_codes import Code

INTERNAL_ERROR = "internal error: please report it. Try again; the gateway's log says more."


class RequestError(EvergridError):
    """The same over WebSocket and HTTP: a code for programs, a sentence for people.

    `key` is the name of a key that was recognised although it is refused.
    """

    def __init__(self, code: Code, what: str, *, remedy: str = "", key: str = "") -> None:
        self.code = code
        self.key = key
        super().__init__(what, remedy=remedy)
