"""What waits to be sent to one client: messages, and the newest publication of each window.

Nothing queues up behind a slow reader but the newest: a window that changed ten times while
one frame was sent is sent once, as it is then.
"""

from __future__ import annotations

from collections import deque

from evergrid.gateway.engine.deliveries import SubscriberId
from evergrid.gateway.engine.publication import WindowPublication
from evergrid.protocol.frames import addressed
from evergrid.protocol.messages import State
from evergrid.views.view_query import Window

MAX_MESSAGES = 1000


class PendingFrame:
    """One subscription's next frame: the newest publication, if the client does not have it."""

    __slots__ = ("_newest", "_sent", "_sub", "_window")

    def __init__(self, sub: int) -> None:
        self._sub = sub
        self._sent = 0
        self._window: Window | None = None
        self._newest: WindowPublication | None = None

    def offer(self, publication: WindowPublication) -> None:
        """Replace what has not been sent yet, unless the client has moved to another window."""
        if self._window in (None, publication.window):
            self._newest = publication

    def resume(self, publication: WindowPublication, sequence: int) -> None:
        """The client has publication `sequence` already, so a difference may start from it."""
        self._newest = publication
        self._sent = sequence

    def move(self, window: Window) -> None:
        """The next frame is this window in full, whatever was sent before."""
        self._window = window
        self._newest = None
        self._sent = 0

    @property
    def most_bytes(self) -> int:
        """The next frame has at most so many bytes."""
        return self._newest.most_bytes if self._newest else 0

    def take(self) -> bytes | None:
        """The frame that brings the client up to date; None if it is."""
        newest, self._newest = self._newest, None
        if newest is None or newest.sequence == self._sent:
            return None
        difference = newest.difference
        fits = difference is not None and self._sent != 0 and newest.base == self._sent
        self._sent = newest.sequence
        if fits and difference is not None:
            return addressed(self._sub, difference)
        return addressed(self._sub, newest.full())


class OutboundQueue:
    """All that waits for one client: first messages, then states, then frames in turn."""

    __slots__ = ("_changed", "_frames", "_messages", "_states")

    def __init__(self) -> None:
        self._messages: deque[str] = deque()
        self._states: dict[int, State] = {}
        self._frames: dict[SubscriberId, PendingFrame] = {}
        self._changed: dict[SubscriberId, PendingFrame] = {}  # in the order of sending

    def add_message(self, text: str) -> bool:
        """Queue a message; False if so many wait that the client cannot be reading."""
        self._messages.append(text)
        return len(self._messages) <= MAX_MESSAGES

    def add_state(self, state: State) -> None:
        """Queue a window's state in place of an older one that has not been sent."""
        self._states.pop(state.sub, None)
        self._states[state.sub] = state

    def open(self, subscriber: SubscriberId, sub: int) -> None:
        self._frames[subscriber] = PendingFrame(sub)

    def move(self, subscriber: SubscriberId, window: Window) -> None:
        self._frames[subscriber].move(window)

    def close(self, subscriber: SubscriberId, sub: int) -> None:
        """Drop all that waits for this window: nothing may follow the answer to a close."""
        self._frames.pop(subscriber, None)
        self._changed.pop(subscriber, None)
        self._states.pop(sub, None)

    def offer(self, subscriber: SubscriberId, publication: WindowPublication) -> None:
        if frame := self._frames.get(subscriber):
            frame.offer(publication)
            self._changed[subscriber] = frame

    def resume(
        self, subscriber: SubscriberId, publication: WindowPublication, sequence: int
    ) -> None:
        if frame := self._frames.get(subscriber):
            frame.resume(publication, sequence)
            self._changed[subscriber] = frame

    def next_message(self) -> str | State | None:
        if self._messages:
            return self._messages.popleft()
        if self._states:
            return self._states.pop(next(iter(self._states)))
        return None

    def next_frame_bytes(self) -> int:
        """The next frame has at most so many bytes; it is not built for that."""
        return next(iter(self._changed.values())).most_bytes if self._changed else 0

    def next_frame(self) -> bytes | None:
        """The next frame; a window that changes again goes to the end of the queue."""
        while self._changed:
            subscriber = next(iter(self._changed))
            if frame := self._changed.pop(subscriber).take():
                return frame
        return None
