"""A control message that was sent, by its place on the control topic."""

from __future__ import annotations

import msgspec


class Asked(msgspec.Struct, frozen=True):
    """Sent, and not carried out yet: the verdict is a row of `control_raw`."""

    partition: int
    offset: int

    @property
    def row_id(self) -> str:
        """The id of that row, its `_id`."""
        return f"{self.partition}:{self.offset}"


class SentAnswer(msgspec.Struct, frozen=True):
    sent: Asked
