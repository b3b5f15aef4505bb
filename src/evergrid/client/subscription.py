"""One window that a program looks at, for as long as it looks. No I/O.

It outlives connections: each gives it another number, so a late frame that was meant for an
earlier one finds nobody.
"""

from __future__ import annotations

from collections.abc import Callable

from evergrid.client.live_window import LiveWindow, Standing, live_window
from evergrid.client.window_state import Picture, painted
from evergrid.model.errors import BrokenPromise, EvergridError
from evergrid.protocol.frames import Frame
from evergrid.protocol.messages import Live, Open, Resume
from evergrid.views.query import Query, Window

# A gateway that breaks its promise so often in a row will not keep it the next time.
MAX_BREAKS = 3


class Subscription:
    """The newest state of a window, until somebody takes it."""

    def __init__(self, query: Query, window: Window, listener: Callable[[], None]) -> None:
        self.query = query
        self.window = window
        self.sub: int | None = None
        self.failure: EvergridError | None = None
        self.closed = False
        self._listener = listener
        self._picture: Picture | None = None
        self._instance = ""
        self._moved = False
        self._breaks = 0
        self._standing: Standing | None = None
        self._own_words = False
        self._held_back: Standing | None = None
        self._needs_frame = True
        self._news = False

    @property
    def over(self) -> bool:
        return self.closed or self.failure is not None

    def opening(self, sub: int, instance: str) -> Open:
        """The message that opens it under this number, from where an earlier one left off."""
        if self._instance != instance:
            self._instance = ""
        sequence = 0
        if self._picture is not None and self._instance and not self._moved:
            sequence = self._picture.sequence
        else:
            self._instance, self._moved = "", False
        # Also where nothing is left to go on from: then it is known not to be a first question.
        resume = None if self._picture is None else Resume(instance, sequence)
        self._needs_frame = not sequence
        self.sub = sub
        return Open(
            sub=sub,
            table=self.query.table,
            columns=self.query.columns,
            filter=self.query.filter,
            search=self.query.search,
            order=self.query.order,
            offset=self.window.offset,
            limit=self.window.limit,
            resume=resume,
        )

    def move(self, window: Window) -> None:
        """From now on another slice. Its frames count on their own, and nothing in a frame
        says which slice it is of, so what came before cannot be resumed from then."""
        self.window = window
        self._moved = True

    def paint(self, frame: Frame, instance: str) -> None:
        """Take in a frame; BrokenPromise when it does not fit, and then nothing has changed."""
        known = self._picture is not None and self._instance == instance
        before = self._picture if known else None
        floor = before.sequence if before is not None and not self._moved else 0
        self._picture = painted(before, frame, floor=floor)
        self._instance = instance
        self._breaks = 0
        self._needs_frame = False
        if self._held_back is not None:
            self._stand(self._held_back, own_words=False)
        elif self._standing is None or self._own_words:
            self._stand(Standing(Live.LIVE, ""), own_words=False)
        self._tell()

    def broken(self, problem: BrokenPromise) -> bool:
        """After a frame that did not fit: True when it is worth asking for the window anew."""
        self._instance = ""
        self._breaks += 1
        if self._breaks < MAX_BREAKS:
            return True
        self.fail(problem)
        return False

    def told(self, standing: Standing) -> None:
        """The gateway said how the window is.

        `live` is believed when there are rows that it is said of: those from before the table
        was away, or of another gateway, must not pass for fresh until the new ones are here.
        """
        if standing.state in (Live.WAITING, Live.LOADING):
            self._needs_frame = True
        if standing.state is Live.LIVE and self._needs_frame:
            self._held_back = standing
        else:
            self._stand(standing, own_words=False)

    def lost(self, message: str, since: int) -> None:
        """There is no connection; rows that were stale before stay stale since then."""
        self.sub = None
        was = self._standing
        if was is not None and was.state is Live.STALE and was.since:
            since = min(was.since, since) if since else was.since
        self._stand(Standing(Live.STALE, message, since), own_words=True)

    def _stand(self, standing: Standing, *, own_words: bool) -> None:
        self._own_words = own_words
        self._held_back = None
        if standing != self._standing:
            self._standing = standing
            self._tell()

    def fail(self, error: EvergridError) -> None:
        self.failure = error
        self.sub = None
        self._listener()

    def close(self) -> None:
        self.closed = True
        self.sub = None
        self._listener()

    def _tell(self) -> None:
        self._news = True
        self._listener()

    def now(self) -> LiveWindow:
        """The newest state, whether it was taken before or not."""
        standing = self._standing or Standing(Live.LOADING, "not answered yet")
        return live_window(self.query.table, self._picture, standing)

    def take(self) -> LiveWindow | None:
        """The newest state, once."""
        if not self._news:
            return None
        self._news = False
        return self.now()
