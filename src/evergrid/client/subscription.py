"""One open window of a program. No I/O.

It outlives connections. Each connection gives it another number, so that a late frame for an
earlier number is ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec

from evergrid.client.live_window import LiveWindow, apply_frame, moment
from evergrid.model.errors import BrokenPromise, EvergridError
from evergrid.protocol.frames import Frame
from evergrid.protocol.messages import Live, Open, Resume, WindowState
from evergrid.views.view_query import Query, Window

MAX_FRAME_ERRORS = 3  # in a row, before the window fails


class Subscription:
    """The newest state of a window, for its reader to take."""

    def __init__(self, query: Query, window: Window, listener: Callable[[], None]) -> None:
        self.query = query
        self.window = window
        self.sub: int | None = None
        self.failure: EvergridError | None = None
        self.closed = False
        self._listener = listener
        self._newest = LiveWindow(query.table)
        self._instance = ""  # of the gateway that sent the rows, if they can be resumed
        self._moved = False
        self._frame_errors = 0
        self._status_is_own = True
        self._pending_status: str | None = None  # the message of a status `live`
        self._needs_frame = True
        self._has_update = False

    @property
    def ended(self) -> bool:
        return self.closed or self.failure is not None

    def open_message(self, sub: int, instance: str) -> Open:
        """The message that opens the window under this number, resuming if possible."""
        can_resume = self._instance == instance and not self._moved
        if not can_resume:
            self._instance, self._moved = "", False
        # Sequence 0 tells the gateway that the window was open before, without a state to resume.
        sequence = self._newest.sequence
        resume = Resume(instance, sequence if can_resume else 0) if sequence else None
        self._needs_frame = not can_resume
        self.sub = sub
        return Open(
            sub=sub,
            resume=resume,
            **msgspec.structs.asdict(self.query),
            **msgspec.structs.asdict(self.window),
        )

    def move(self, window: Window) -> None:
        """Show another slice of the view. Its frames have their own sequence, and a frame does not
        name its slice, so an earlier state cannot be resumed."""
        self.window = window
        self._moved = True

    def apply(self, frame: Frame, instance: str) -> None:
        """Apply a frame; BrokenPromise, with nothing changed, if it does not fit."""
        before = self._newest
        if self._instance != instance:
            before = msgspec.structs.replace(before, sequence=0)
        floor = 0 if self._moved else before.sequence
        self._newest = apply_frame(before, frame, floor=floor)
        self._instance = instance
        self._frame_errors = 0
        self._needs_frame = False
        if self._pending_status is not None:
            self._set_status(Live.LIVE, self._pending_status)
        elif self._status_is_own:
            self._set_status(Live.LIVE, "")
        self._notify()

    def frame_failed(self, problem: BrokenPromise) -> bool:
        """A frame did not fit; True if the window is to be opened again."""
        self._instance = ""
        self._frame_errors += 1
        if self._frame_errors < MAX_FRAME_ERRORS:
            return True
        self.fail(problem)
        return False

    def set_status(self, status: WindowState) -> None:
        """Take the status that the gateway sent.

        `live` takes effect with the next frame if the rows are those of an earlier connection, or
        from before the table was away: they must not count as up to date.
        """
        if status.state in (Live.WAITING, Live.LOADING):
            self._needs_frame = True
        if status.state is Live.LIVE and self._needs_frame:
            self._pending_status = status.message
        else:
            since = status.since if status.state is Live.STALE else 0
            self._set_status(status.state, status.message, moment(since))

    def disconnected(self, message: str, since: int) -> None:
        """The connection was lost; rows that were stale before keep the time of that."""
        self.sub = None
        known = (self._newest.stale_since, moment(since))
        earliest = min((time for time in known if time), default=None)
        self._set_status(Live.STALE, message, earliest, own=True)

    def _set_status(
        self, state: Live, message: str, stale_since: datetime | None = None, *, own: bool = False
    ) -> None:
        self._status_is_own = own
        self._pending_status = None
        status = {"state": state, "message": message, "stale_since": stale_since}
        if any(getattr(self._newest, name) != value for name, value in status.items()):
            self._newest = msgspec.structs.replace(self._newest, **status)
            self._notify()

    def fail(self, error: EvergridError) -> None:
        self.failure = error
        self.sub = None
        self._listener()

    def close(self) -> None:
        self.closed = True
        self.sub = None
        self._listener()

    def _notify(self) -> None:
        self._has_update = True
        self._listener()

    def newest(self) -> LiveWindow:
        """The newest state, whether or not it was taken before."""
        return self._newest

    def take(self) -> LiveWindow | None:
        """The newest state, if it was not taken before."""
        if not self._has_update:
            return None
        self._has_update = False
        return self.newest()
