"""What a client asks for and cannot have, by its code."""

from __future__ import annotations

from evergrid.model.errors import EvergridError
from evergrid.protocol.codes import Code
from evergrid.views.query import QueryError

UNFORESEEN = "something went wrong that we did not foresee. Try again; its log says more."


class Refusal(EvergridError):
    """The same over WebSocket and HTTP: a code for programs, a sentence for people."""

    def __init__(self, code: Code, what: str, *, remedy: str = "") -> None:
        self.code = code
        super().__init__(what, remedy=remedy)


def refusal_of(error: QueryError) -> Refusal:
    """A query's fault as the protocol names it."""
    return Refusal(Code[error.fault.name], error.sentence())
