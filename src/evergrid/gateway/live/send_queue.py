"""What waits to be sent to one client: words, and the newest state of each of its windows.

Nothing queues behind a slow reader but the newest: a window that changed ten times while
one frame went out is sent once, as it is then.
"""

from __future__ import annotations

from collections import deque

from evergrid.gateway.engine.deliveries import Publication, Ticket
from evergrid.protocol.frames import addressed
from evergrid.protocol.messages import State
from evergrid.views.query import Window

MAX_WORDS = 1000


class Outlet:
    """One subscription's way out: the state last sent, and the newest one if it is another."""

    __slots__ = ("_newest", "_sent", "_sub", "_window")

    def __init__(self, sub: int) -> None:
        self._sub = sub
        self._sent = 0
        self._window: Window | None = None
        self._newest: Publication | None = None

    def offer(self, publication: Publication) -> None:
        """A state that replaces whatever had not been sent yet; one of a window that was moved
        away from comes too late."""
        if self._window in (None, publication.window):
            self._newest = publication

    def resume(self, publication: Publication, sequence: int) -> None:
        """The client has the state `sequence` already, so differences may start from it."""
        self._newest = publication
        self._sent = sequence

    def moved(self, window: Window) -> None:
        """The next frame is this window in full: it answers the move, whatever was sent before."""
        self._window = window
        self._newest = None
        self._sent = 0

    def take(self) -> bytes | None:
        """The frame that brings the client up to date; None when it is."""
        newest, self._newest = self._newest, None
        if newest is None or newest.sequence == self._sent:
            return None
        difference = newest.difference
        fits = difference is not None and self._sent != 0 and newest.base == self._sent
        self._sent = newest.sequence
        if fits and difference is not None:
            return addressed(self._sub, difference)
        return addressed(self._sub, newest.full())


class Outbox:
    """All that waits for one client: answers first, then states, then windows in turn."""

    __slots__ = ("_dirty", "_outlets", "_states", "_words")

    def __init__(self) -> None:
        self._words: deque[str] = deque()
        self._states: dict[int, State] = {}
        self._outlets: dict[Ticket, Outlet] = {}
        self._dirty: dict[Ticket, Outlet] = {}  # in the order in which they are sent

    def say(self, text: str) -> bool:
        """An answer to send; False when so many wait that the client cannot be reading."""
        self._words.append(text)
        return len(self._words) <= MAX_WORDS

    def tell(self, state: State) -> None:
        """How a window is; an older word about it that has not been sent is forgotten."""
        self._states.pop(state.sub, None)
        self._states[state.sub] = state

    def open(self, ticket: Ticket, sub: int) -> None:
        self._outlets[ticket] = Outlet(sub)

    def move(self, ticket: Ticket, window: Window) -> None:
        self._outlets[ticket].moved(window)

    def close(self, ticket: Ticket, sub: int) -> None:
        """Forget all that waits for it: nothing follows the answer to a close."""
        self._outlets.pop(ticket, None)
        self._dirty.pop(ticket, None)
        self._states.pop(sub, None)

    def offer(self, ticket: Ticket, publication: Publication) -> None:
        if outlet := self._outlets.get(ticket):
            outlet.offer(publication)
            self._dirty[ticket] = outlet

    def resume(self, ticket: Ticket, publication: Publication, sequence: int) -> None:
        if outlet := self._outlets.get(ticket):
            outlet.resume(publication, sequence)
            self._dirty[ticket] = outlet

    def words(self) -> str | State | None:
        """The next text to send."""
        if self._words:
            return self._words.popleft()
        if self._states:
            return self._states.pop(next(iter(self._states)))
        return None

    def frame(self) -> bytes | None:
        """The next frame to send; a window that changes again waits behind the others."""
        while self._dirty:
            ticket = next(iter(self._dirty))
            if frame := self._dirty.pop(ticket).take():
                return frame
        return None
