"""Brings what the engine delivers to the connections that wait for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from evergrid.gateway.engine.deliveries import (
    Delivery,
    Publication,
    Published,
    Refused,
    Resumed,
    Ticket,
    Told,
)

# Connections woken in one turn of the event loop, so that a change that thousands look at
# does not hold up everything else while it is sent to all of them.
AT_ONCE = 50


class Seat(Protocol):
    """A connection, as the switchboard sees it."""

    def offer(self, ticket: Ticket, publication: Publication) -> None: ...
    def resume(self, ticket: Ticket, publication: Publication, sequence: int) -> None: ...
    def told(self, told: Told) -> None: ...
    def refused(self, refused: Refused) -> None: ...
    def wake(self) -> None: ...


class Switchboard:
    """Knows whose ticket is whose; what comes for a ticket that was given back is dropped."""

    def __init__(self) -> None:
        self._seats: dict[Ticket, Seat] = {}
        self._waiting: deque[Seat] = deque()
        self._waking: asyncio.Handle | None = None
        self._done: list[Callable[[], None]] = []

    @property
    def tickets(self) -> int:
        return len(self._seats)

    def take(self, ticket: Ticket, seat: Seat) -> None:
        self._seats[ticket] = seat

    def give_back(self, ticket: Ticket) -> None:
        self._seats.pop(ticket, None)

    def deliver(
        self, deliveries: Sequence[Delivery], done: Callable[[], None] | None = None
    ) -> None:
        """Called on the event loop; returns soon, whatever was delivered to how many.

        `done` is called when everybody has been woken and has had a turn to send.
        """
        for delivery in deliveries:
            if isinstance(delivery, Published):
                for ticket in delivery.tickets:
                    if seat := self._seats.get(ticket):
                        seat.offer(ticket, delivery.publication)
                        self._waiting.append(seat)
            elif seat := self._seats.get(delivery.ticket):
                self._hand(seat, delivery)
        if done is not None:
            self._done.append(done)
        if self._waking is None:
            self._wake_some()

    def _hand(self, seat: Seat, delivery: Resumed | Told | Refused) -> None:
        if isinstance(delivery, Resumed):
            seat.resume(delivery.ticket, delivery.publication, delivery.sequence)
            self._waiting.append(seat)
        elif isinstance(delivery, Told):
            seat.told(delivery)
        else:
            seat.refused(delivery)

    def _wake_some(self) -> None:
        for _ in range(min(AT_ONCE, len(self._waiting))):
            self._waiting.popleft().wake()
        loop = asyncio.get_running_loop()
        if self._waiting:
            self._waking = loop.call_soon(self._wake_some)
            return
        self._waking = None
        done, self._done = self._done, []
        for call in done:
            loop.call_soon(call)  # after those who were woken

    def close(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
        self._waiting.clear()
        self._seats.clear()
