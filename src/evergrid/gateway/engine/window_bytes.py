"""Limits the bytes of the windows that the hub holds: by connection, by key and in total.

A window is counted once in total and once for each key, however many look at it, and for each
connection as often as it has it open. It is counted before it is built.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.engine.deliveries import Owner, SubscriberId
from evergrid.gateway.engine.shared_view import SharedWindow
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live, WindowState

_MEGABYTE = 2**20
# An idle window keeps its rows, for clients that come back, only if it is no larger.
_IDLE_BYTES = 64 * 1024
_NOBODY = Owner()
_RETRY_SECONDS = 1.0


class ByteLimits(msgspec.Struct, frozen=True):
    """The most bytes of a frame, and of the windows of a connection, of a key and in total."""

    frame: int = 8 * _MEGABYTE
    connection: int = 64 * _MEGABYTE
    key: int = 512 * _MEGABYTE
    total: int = 1024 * _MEGABYTE

    @classmethod
    def of(cls, limits: GatewayLimits) -> ByteLimits:
        return cls(
            frame=limits.frame_bytes,
            connection=limits.bytes_per_connection,
            key=limits.bytes_per_key,
            total=limits.total_bytes,
        )


class WindowBytes:
    """Decides which subscribers of a window get its rows."""

    def __init__(self, limits: ByteLimits) -> None:
        self._limits = limits
        self._owners: dict[SubscriberId, Owner] = {}
        self._connections: Counter[int] = Counter()
        self._keys: Counter[str] = Counter()
        self._sharers: Counter[tuple[str, int]] = Counter()  # subscribers of a key in a window
        self.total = 0
        self._freed = False  # room has come since the last retry
        self._retried_at = 0.0

    def is_retry_due(self, now: float) -> bool:
        """Whether there may be room now for windows that were refused; not too often."""
        if not self._freed or now - self._retried_at < _RETRY_SECONDS:
            return False
        self._freed, self._retried_at = False, now
        return True

    def add_owner(self, subscriber: SubscriberId, owner: Owner) -> None:
        self._owners[subscriber] = owner

    def remove_owner(self, subscriber: SubscriberId) -> None:
        self._owners.pop(subscriber, None)

    def admit(self, window: SharedWindow, size: int) -> bool:
        """Count the window with `size` bytes; False if nobody may have it now.

        Those for whom there is no room are in its `refused`, with the reason. Some more is counted
        than is needed, so that a window is not counted anew whenever it changes.
        """
        enough = window.counted // 2 <= size <= window.counted
        if not enough:
            self.release(window)
            size = min(size + size // 4, max(size, self._limits.frame))
            if self.total + size > self._limits.total:
                window.refused = dict.fromkeys(window.subscribers, self._no_room_in_total())
                return False
            window.counted = size
            self.total += size
        if len(window.charged) < len(window.subscribers):
            for subscriber in window.subscribers:
                if subscriber not in window.charged:
                    self._charge(subscriber, window)
        if not window.charged:  # it is not built
            self.total -= window.counted
            window.counted = 0
        return bool(window.charged)

    def leave(self, window: SharedWindow, subscriber: SubscriberId) -> None:
        """The subscriber has left the window."""
        window.refused.pop(subscriber, None)
        self._discharge(subscriber, window)
        if not window.subscribers and window.counted > _IDLE_BYTES:
            window.forget()
            self.release(window)

    def release(self, window: SharedWindow) -> None:
        """The window holds no rows any more."""
        for subscriber in list(window.charged):
            self._discharge(subscriber, window)
        window.refused.clear()
        self._freed = self._freed or window.counted > 0
        self.total -= window.counted
        window.counted = 0

    def release_all(self, windows: Iterable[SharedWindow]) -> None:
        for window in windows:
            self.release(window)

    def _charge(self, subscriber: SubscriberId, window: SharedWindow) -> None:
        owner, size = self._owners.get(subscriber, _NOBODY), window.counted
        place = owner.key, id(window)
        of_key = 0 if self._sharers[place] else size
        if self._connections[owner.connection] + size > self._limits.connection:
            window.refused[subscriber] = _no_room("this connection", self._limits.connection)
        elif self._keys[owner.key] + of_key > self._limits.key:
            window.refused[subscriber] = _no_room("this key", self._limits.key)
        else:
            window.refused.pop(subscriber, None)
            window.charged[subscriber] = None
            self._connections[owner.connection] += size
            self._keys[owner.key] += of_key
            self._sharers[place] += 1
            return
        if not self._sharers[place]:
            del self._sharers[place]

    def _discharge(self, subscriber: SubscriberId, window: SharedWindow) -> None:
        if subscriber not in window.charged:
            return
        del window.charged[subscriber]
        owner, size = self._owners.get(subscriber, _NOBODY), window.counted
        place = owner.key, id(window)
        self._connections[owner.connection] -= size
        self._sharers[place] -= 1
        if not self._sharers[place]:
            del self._sharers[place]
            self._keys[owner.key] -= size
        if not self._connections[owner.connection]:
            del self._connections[owner.connection]
        if not self._keys[owner.key]:
            del self._keys[owner.key]
        self._freed = True

    def _no_room_in_total(self) -> WindowState:
        return _no_room("this gateway", self._limits.total)


def _no_room(whose: str, most: int) -> WindowState:
    return WindowState(
        Live.WAITING,
        f"too many bytes: the windows of {whose} would have more than {most} bytes, which is the "
        "limit. Ask for fewer rows or columns, or close other windows; the rows come when there "
        "is room.",
        code=Code.TOO_MANY_BYTES.value,
    )
