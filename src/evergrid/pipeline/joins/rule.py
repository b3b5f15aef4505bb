"""What a join type has to say for itself; all else is common to the three.

A message is a struct (ts, partition, offset, body), so comparing two compares their
positions first and always ends there: a position names one message. A pair is a
struct of `left` and `right`, one of which may be null.
"""

from __future__ import annotations

from typing import Protocol

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

MESSAGE = ("ts", "partition", "offset", "body")


class KeyState(msgspec.Struct, frozen=True):
    """What is known of one key when a message arrives, that message included.

    `lefts` and `rights` are the key's latest messages, newest first.
    """

    event: Column
    from_left: Column
    lefts: Column
    rights: Column


class Rule(Protocol):
    """One join type."""

    def live(self, state: KeyState) -> Column:
        """The pairs that the newest message creates or corrects, as an array."""
        ...

    def history(self, left: DataFrame, right: DataFrame) -> DataFrame:
        """All pairs of two complete sets of (key, message), as columns left and right."""
        ...


def pair(left: Column, right: Column) -> Column:
    return F.struct(left.alias("left"), right.alias("right"))


def pairs_with(messages: Column, event: Column, *, event_is_left: bool) -> Column:
    """The event paired with each of `messages`, which are of the other side."""
    if event_is_left:
        return F.transform(messages, lambda other: pair(event, other))
    return F.transform(messages, lambda other: pair(other, event))


def latest(messages: Column) -> Column:
    """The first of messages that are newest first; null when there is none."""
    return F.get(messages, F.lit(0))
