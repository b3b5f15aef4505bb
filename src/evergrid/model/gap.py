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

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_LABELS = {
    GapReason.HISTORY: "history limit",
    GapReason.PAIRS: "pair limit",
    GapReason.MEMORY: "memory limit",
    GapReason.STATE: "lost state",
}

_SENTENCES = {
    GapReason.HISTORY: "A key has more messages than joins.<name>.history keeps.",
    GapReason.PAIRS: "A message has more pairs than joins.<name>.pairs allows.",
    GapReason.MEMORY: "A key is over its memory limit.",
    GapReason.STATE: "The state of the join was lost.",
}
