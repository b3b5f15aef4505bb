"""Why a table may lack rows."""

from __future__ import annotations

import enum


class GapReason(enum.Enum):
    """Why a join left messages out, which the manifest says, or why a gateway lacks changes."""

    HISTORY = "history"
    PAIRS = "pairs"
    MEMORY = "memory"
    STATE = "state"
    TABLE_MEMORY = "table_memory"
    UNREADABLE = "unreadable"
    RETENTION = "retention"
    TRUNCATED = "truncated"

    @property
    def is_of_gateway(self) -> bool:
        """Whether a gateway found it in its own table; all others are of a join."""
        return self in _OF_GATEWAY

    @property
    def label(self) -> str:
        """A short name, used in longer sentences."""
        return _LABELS[self]

    def sentence(self, join: str = "<name>") -> str:
        """The reason as a sentence, with the setting of this join."""
        return _SENTENCES[self].format(join=join)


_OF_GATEWAY = (
    GapReason.TABLE_MEMORY,
    GapReason.UNREADABLE,
    GapReason.RETENTION,
    GapReason.TRUNCATED,
)

_LABELS = {
    GapReason.HISTORY: "history limit",
    GapReason.PAIRS: "pair limit",
    GapReason.MEMORY: "memory limit",
    GapReason.STATE: "lost state",
    GapReason.TABLE_MEMORY: "memory limit of the table",
    GapReason.UNREADABLE: "unreadable changelog records",
    GapReason.RETENTION: "changelog records deleted before they were read",
    GapReason.TRUNCATED: "changelog records lost by Kafka",
}

_SENTENCES = {
    GapReason.HISTORY: "A key has more messages than joins.{join}.history keeps.",
    GapReason.PAIRS: "A key makes more pairs than joins.{join}.pairs and backlog_pairs allow.",
    GapReason.MEMORY: "A key is over its memory limit.",
    GapReason.STATE: "The state of the join was lost.",
    GapReason.TABLE_MEMORY: "The table needs more memory than gateway.table_bytes allows: its "
    "oldest rows were dropped.",
    GapReason.UNREADABLE: "Records of the changelog are not rows of this table: they were skipped.",
    GapReason.RETENTION: "Kafka deleted records of the changelog before this gateway read them: it "
    "was too far behind, or somebody truncated the topic.",
    GapReason.TRUNCATED: "The changelog ends before what was read: its newest records are lost, as "
    "after an unclean leader election. The table was loaded again.",
}
