"""A join: two sources with a common key, and the rule that pairs their messages."""

from __future__ import annotations

import enum

import msgspec


class JoinType(enum.Enum):
    ASOF = "asof"
    LEFT = "left"
    INNER = "inner"


class Side(enum.Enum):
    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> Side:
        return Side.RIGHT if self is Side.LEFT else Side.LEFT


class JoinColumn(msgspec.Struct, frozen=True):
    """One column of the result: its name, and the side and field it shows."""

    name: str
    side: Side
    field: str


class History(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many of a key's latest messages a join looks back on, by side; None: no limit."""

    left: int | None = None
    right: int | None = None


MOST_PAIRS = 10_000
BACKLOG_PAIRS = 100_000_000


class Join(msgspec.Struct, frozen=True):
    """Everything that decides what rows the joined table has."""

    name: str
    table: str
    type: JoinType
    left: str
    right: str
    left_key: str
    right_key: str
    history: History
    columns: tuple[JoinColumn, ...]
    pairs: int = MOST_PAIRS  # rows of an inner join that one message may make
    backlog_pairs: int = BACKLOG_PAIRS  # ... and that messages read in micro-batches may make

    @property
    def driving(self) -> Side:
        """The side that gives the result its rows; for an inner join, which names win."""
        return Side.RIGHT if self.type is JoinType.ASOF else Side.LEFT

    def source_of(self, side: Side) -> str:
        return self.left if side is Side.LEFT else self.right

    def key_of(self, side: Side) -> str:
        return self.left_key if side is Side.LEFT else self.right_key
