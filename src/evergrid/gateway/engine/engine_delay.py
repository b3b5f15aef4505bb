"""How late the engine is, and what windows are told while it is too late.

A window that is `live` promises that it shows what there is. The engine's thread may be too busy
to keep that promise, and then even to report it: so the event loop does.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import msgspec

from evergrid.gateway.engine.deliveries import Delivery, Rejected, StateChanged, SubscriberId
from evergrid.gateway.engine.table_engine import TableInfo
from evergrid.protocol.messages import Live, WindowState

LATE_SECONDS = 5.0
_CAUGHT_UP_SECONDS = 1.0
BUSY = "The gateway is busy: changes are shown late."
OPENED_LATE = WindowState(Live.LOADING, "The gateway is busy: the window waits for its turn.")
_LATE = f"{BUSY} They wait for more than {LATE_SECONDS:.0f} s; windows are stale meanwhile."
_CAUGHT_UP = "The gateway has caught up: windows are live again."

Shown = TypeVar("Shown", WindowState, TableInfo)


class EngineDelay:
    """Since when the oldest change waits that was read and is not published.

    The feed's thread adds changes, the engine's thread removes them, all threads may look.
    """

    def __init__(self) -> None:
        self._read: deque[float] = deque()
        self._unpublished_since: float | None = None

    def on_read(self) -> None:
        self._read.append(time.monotonic())

    def on_applied(self) -> None:
        self._read.popleft()

    @property
    def is_publishing(self) -> bool:
        """Whether all changes that were due have been published, as far as is known."""
        return self._unpublished_since is None

    def set_publishing(self, *, on_time: bool) -> None:
        self._unpublished_since = None if on_time else time.monotonic()

    @property
    def seconds(self) -> float:
        now = time.monotonic()
        try:
            oldest = self._read[0]
        except IndexError:  # nothing waits; another thread may have taken the last one
            oldest = now
        unpublished = self._unpublished_since
        return now - min(oldest, now if unpublished is None else unpublished)


class BusyStates:
    """Knows the states of all windows, and replaces `live` while the engine is late.

    Used on the event loop alone.
    """

    def __init__(self, delay: EngineDelay, log: Callable[[str], None]) -> None:
        self._delay = delay
        self._log = log
        self._states: dict[SubscriberId, WindowState | None] = {}  # as the engine reports them
        self._opened: dict[SubscriberId, float] = {}  # those without a state, the oldest first
        self._since = 0  # microseconds since the epoch; 0: it is not late

    @property
    def is_late(self) -> bool:
        return bool(self._since)

    def open(self, subscriber: SubscriberId) -> None:
        self._states[subscriber] = None
        self._opened[subscriber] = time.monotonic()

    def close(self, subscriber: SubscriberId) -> None:
        self._states.pop(subscriber, None)
        self._opened.pop(subscriber, None)

    def passed(self, delivery: Delivery) -> Delivery:
        """The delivery with the state that the window is told."""
        if isinstance(delivery, Rejected):
            self.close(delivery.subscriber)
        elif isinstance(delivery, StateChanged) and delivery.subscriber in self._states:
            self._opened.pop(delivery.subscriber, None)
            self._states[delivery.subscriber] = delivery.state
            return StateChanged(delivery.subscriber, self.told(delivery.state))
        return delivery

    def told(self, shown: Shown) -> Shown:
        """The state of a window or a table as it is told now."""
        if not self.is_late or shown.state is not Live.LIVE:
            return shown
        message = f"{BUSY} {shown.message}" if shown.message else BUSY
        return msgspec.structs.replace(shown, state=Live.STALE, message=message, since=self._since)

    def check(self) -> list[Delivery]:
        """What windows must be told now, because time has passed."""
        out: list[Delivery] = []
        seconds = self._delay.seconds
        limit = _CAUGHT_UP_SECONDS if self.is_late else LATE_SECONDS
        if self.is_late != (seconds > limit):
            self._since = 0 if self.is_late else time.time_ns() // 1000 - int(seconds * 1e6)
            self._log(_LATE if self.is_late else _CAUGHT_UP)
            out += [
                StateChanged(subscriber, self.told(state))
                for subscriber, state in self._states.items()
                if state is not None and state.state is Live.LIVE
            ]
        late = time.monotonic() - LATE_SECONDS
        while self._opened and next(iter(self._opened.values())) < late:
            subscriber = next(iter(self._opened))
            del self._opened[subscriber]
            out.append(StateChanged(subscriber, OPENED_LATE))
        return out
