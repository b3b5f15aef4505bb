"""Routes the engine's deliveries to the connections of their subscribers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from evergrid.gateway.engine.deliveries import Delivery, Published, SubscriberId

# Connections woken in one turn of the event loop, so that a change with thousands of
# subscribers does not block everything else while it is sent to all of them.
WOKEN_AT_ONCE = 50


class Recipient(Protocol):
    """A connection with subscriptions."""

    def deliver(self, subscriber: SubscriberId, delivery: Delivery) -> None: ...
    def wake(self) -> None: ...


class DeliveryRouter:
    """Knows the recipient of each subscriber; deliveries for others are dropped."""

    def __init__(self) -> None:
        self._recipients: dict[SubscriberId, Recipient] = {}
        self._to_wake: deque[Recipient] = deque()
        self._waking: asyncio.Handle | None = None
        self._done: list[Callable[[], None]] = []

    @property
    def subscribers(self) -> int:
        return len(self._recipients)

    def add(self, subscriber: SubscriberId, recipient: Recipient) -> None:
        self._recipients[subscriber] = recipient

    def remove(self, subscriber: SubscriberId) -> None:
        self._recipients.pop(subscriber, None)

    def deliver(
        self, deliveries: Sequence[Delivery], done: Callable[[], None] | None = None
    ) -> None:
        """Called on the event loop; returns soon, however many recipients there are.

        `done` is called when all recipients were woken and had a turn to send.
        """
        for delivery in deliveries:
            if isinstance(delivery, Published):
                subscribers = delivery.subscribers
            else:
                subscribers = (delivery.subscriber,)
            for subscriber in subscribers:
                if recipient := self._recipients.get(subscriber):
                    recipient.deliver(subscriber, delivery)
                    self._to_wake.append(recipient)
        if done is not None:
            self._done.append(done)
        if self._waking is None:
            self._wake_some()

    def _wake_some(self) -> None:
        for _ in range(min(WOKEN_AT_ONCE, len(self._to_wake))):
            self._to_wake.popleft().wake()
        loop = asyncio.get_running_loop()
        if self._to_wake:
            self._waking = loop.call_soon(self._wake_some)
            return
        self._waking = None
        done, self._done = self._done, []
        for call in done:
            loop.call_soon(call)  # after the recipients that were woken

    def close(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
        self._to_wake.clear()
        self._recipients.clear()
