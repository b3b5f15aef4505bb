"""A control message: what it asks for, the words it asks with, and what became of it."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping

import msgspec

from evergrid.model.join import JoinType


class Request(msgspec.Struct, frozen=True):
    """Topics by source and types by join; what is not named stays as it is."""

    topics: Mapping[str, str] = {}
    types: Mapping[str, JoinType] = {}

    def over(self, earlier: Request) -> Request:
        """Both put together; where they differ, this one counts."""
        return Request({**earlier.topics, **self.topics}, {**earlier.types, **self.types})


class Verdict(enum.Enum):
    """What became of a control message.

    waiting      read, and not looked at yet: something else is being decided
    preparing    a generation is being made for it
    applied      what it asked for is on screens
    superseded   a later message came first; what it asked for is part of that one
    ignored      what it asks for runs already
    invalid      it asks for nothing that could be done
    failed       the generation could not be made; the one before runs on
    """

    WAITING = "waiting"
    PREPARING = "preparing"
    APPLIED = "applied"
    SUPERSEDED = "superseded"
    IGNORED = "ignored"
    INVALID = "invalid"
    FAILED = "failed"


def topic_words(sources: Iterable[str]) -> dict[str, str]:
    """Source → the word that names its topic: `usersTopic`."""
    return {name: f"{name}Topic" for name in sources}


def type_words(joins: Iterable[str]) -> dict[str, str]:
    """Join → the word that names its type: `joinType`; with several joins, `finalJoinType`."""
    names = tuple(joins)
    if len(names) == 1:
        return {names[0]: "joinType"}
    return {name: f"{name}JoinType" for name in names}
