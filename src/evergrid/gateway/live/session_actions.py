"""What a session wants done: said to the client, asked of the engine, or ended."""

from __future__ import annotations

import msgspec

from evergrid.gateway.engine.deliveries import Ticket
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import Resume, ServerMessage
from evergrid.views.query import Query, Window


class Say(msgspec.Struct, frozen=True):
    message: ServerMessage


class OpenWindow(msgspec.Struct, frozen=True):
    sub: int
    ticket: Ticket
    query: Query
    window: Window
    resume: Resume | None


class MoveWindow(msgspec.Struct, frozen=True):
    ticket: Ticket
    window: Window


class CloseWindow(msgspec.Struct, frozen=True):
    """Nothing more for this window; `heard` is False when the engine gave it up itself."""

    sub: int
    ticket: Ticket
    heard: bool = True


class End(msgspec.Struct, frozen=True):
    """The connection is over, for a reason that the client is told."""

    code: Code
    message: str


Action = Say | OpenWindow | MoveWindow | CloseWindow | End
