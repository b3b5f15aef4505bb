"""Why a joined table may lack rows."""

from __future__ import annotations

import enum


class GapReason(enum.Enum):
    """Why a join left messages out; the manifest has these values."""

    HISTORY = "history"
    PAIRS = "pairs"
    MEMORY = "memory"
    STATE = "state"

    @property
    def label(self) -> str:
        """A short name, used in longer sentences."""
        return _LABELS[self]

    def sentence(self, join: str = "<name>") -> str:
        """The reason as a sentence, with the setting of this join."""
        return _SENTENCES[self].format(join=join)


_LABELS = {
    GapReason.HISTORY: "history limit",
    GapReason.PAIRS: "pair limit",
    GapReason.MEMORY: "memory limit",
    GapReason.STATE: "lost state",
}

_SENTENCES = {
    GapReason.HISTORY: "A key has more messages than joins.{join}.history keeps.",
    GapReason.PAIRS: "A message has more pairs than joins.{join}.pairs allows.",
    GapReason.MEMORY: "A key is over its memory limit.",
    GapReason.STATE: "The state of the join was lost.",
}
