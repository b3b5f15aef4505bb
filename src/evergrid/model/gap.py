"""Why a joined table may lack rows."""

from __future__ import annotations

import enum


class GapReason(enum.Enum):
    """What made a join leave messages out; the values are those of the manifest."""

    HISTORY = "history"
    PAIRS = "pairs"
    MEMORY = "memory"
    STATE = "state"

    @property
    def label(self) -> str:
        """In a few words, for a longer sentence."""
        return _LABELS[self]

    def sentence(self, join: str = "<name>") -> str:
        """What happened, with the settings of this join."""
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
