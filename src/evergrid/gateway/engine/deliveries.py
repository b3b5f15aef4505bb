"""What the engine's thread passes to the event loop: new states of windows and of their tables.

A subscriber id is the gateway's own number for one subscription and is never used twice, so a
late delivery for a subscription that has ended finds no recipient and is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from evergrid.gateway.engine.publication import WindowPublication
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import WindowState

SubscriberId = int


class Owner(msgspec.Struct, frozen=True):
    """Whose subscription it is: the connection's number, and the name of its key."""

    connection: int = 0
    key: str = ""


class Published(msgspec.Struct, frozen=True):
    """The newest publication of a window, for all its subscribers."""

    subscribers: Sequence[SubscriberId]
    publication: WindowPublication


class Resumed(msgspec.Struct, frozen=True):
    """The newest publication, for a client that has publication `sequence` from before."""

    subscriber: SubscriberId
    publication: WindowPublication
    sequence: int


class StateChanged(msgspec.Struct, frozen=True):
    """The new state of a subscriber's window."""

    subscriber: SubscriberId
    state: WindowState


class Rejected(msgspec.Struct, frozen=True):
    """The subscription cannot be served; its id is no longer valid."""

    subscriber: SubscriberId
    code: Code
    message: str


Delivery = Published | Resumed | StateChanged | Rejected


class Deliver(Protocol):
    """Takes deliveries on the event loop; calls `done` when all recipients had a turn to send."""

    def __call__(
        self, deliveries: Sequence[Delivery], done: Callable[[], None] | None = None
    ) -> None: ...
