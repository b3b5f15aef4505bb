"""The open sessions of a gateway, as administrators see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class SessionInfo(msgspec.Struct, frozen=True):
    """An open WebSocket. `key` is empty before its login; `since` is in microseconds since the
    epoch."""

    id: str
    key: str
    address: str
    since: int
    windows: int


class OpenSessions(Protocol):
    def sessions(self) -> Sequence[SessionInfo]: ...
    def end_session(self, session: str) -> SessionInfo | None:
        """End it and return what it was; None if there is none of this id."""
        ...
