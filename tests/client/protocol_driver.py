"""A protocol without a socket: what it says, and what it is told."""

from __future__ import annotations

import pyarrow as pa

from evergrid.client.live_protocol import LiveProtocol
from evergrid.client.subscription import Subscription
from evergrid.protocol.messages import (
    ClientMessage,
    Hello,
    decode_client,
)
from evergrid.views.view_query import Query, Window
from tests.client.gateway_messages import welcome

NOW = 1_767_225_600.0
USERS = Query("users_ui")
TOP = Window(0, 300)


def said(protocol: LiveProtocol) -> list[ClientMessage]:
    """All that waits to be said, in order."""
    messages: list[ClientMessage] = []
    while (text := protocol.send_queue.take()) is not None:
        messages.append(decode_client(text))
    return messages


def logged_in(protocol: LiveProtocol, instance: str = "first") -> list[ClientMessage]:
    protocol.connected()
    assert said(protocol) == [Hello(1)]
    protocol.receive_text(welcome(instance), NOW)
    return said(protocol)


def opened(protocol: LiveProtocol, query: Query = USERS, window: Window = TOP) -> Subscription:
    return protocol.open(query, window, lambda: None)


def number(subscription: Subscription) -> int:
    assert subscription.sub is not None
    return subscription.sub


def ids(subscription: Subscription) -> list[str]:
    rows: pa.Table = subscription.newest().rows
    found: list[str] = rows["_id"].to_pylist()
    return found
