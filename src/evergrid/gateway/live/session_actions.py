"""The actions that a session asks its connection to do."""

from __future__ import annotations

import msgspec

from evergrid.gateway.engine.deliveries import SubscriberId
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Resume, ServerMessage
from evergrid.views.view_query import Query, Window


class SendMessage(msgspec.Struct, frozen=True):
    message: ServerMessage


class OpenWindow(msgspec.Struct, frozen=True):
    """`sub` is the client's number for the window, `subscriber` the gateway's."""

    sub: int
    subscriber: SubscriberId
    query: Query
    window: Window
    resume: Resume | None


class MoveWindow(msgspec.Struct, frozen=True):
    subscriber: SubscriberId
    window: Window


class CloseWindow(msgspec.Struct, frozen=True):
    """Send nothing more for this window; `by_engine`: the engine has ended it itself."""

    sub: int
    subscriber: SubscriberId
    by_engine: bool = False


class EndConnection(msgspec.Struct, frozen=True):
    """Send this error to the client and close the connection.

    `key` is the name of a key that was recognised although it is refused.
    """

    code: Code
    message: str
    key: str = ""


Action = SendMessage | OpenWindow | MoveWindow | CloseWindow | EndConnection
