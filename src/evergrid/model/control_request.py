"""A control message: what it requests, its field names, and its verdict."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping

import msgspec

from evergrid.model.join import JoinType


class Request(msgspec.Struct, frozen=True):
    """Topics by source and types by join; sources and joins that are not named stay unchanged."""

    topics: Mapping[str, str] = {}
    types: Mapping[str, JoinType] = {}

    def over(self, earlier: Request) -> Request:
        """Both requests combined; where they differ, this one takes precedence."""
        return Request({**earlier.topics, **self.topics}, {**earlier.types, **self.types})


class Verdict(enum.Enum):
    """The outcome of a control message.

    waiting      read, but not decided yet: an earlier request is in progress
    preparing    a generation is prepared for it
    applied      screens show what it requested
    superseded   a later message replaced it; its request is part of the later one
    ignored      what it requests runs already
    invalid      the request is not valid
    failed       the preparation failed; the generation before continues
    """

    WAITING = "waiting"
    PREPARING = "preparing"
    APPLIED = "applied"
    SUPERSEDED = "superseded"
    IGNORED = "ignored"
    INVALID = "invalid"
    FAILED = "failed"


def topic_words(sources: Iterable[str]) -> dict[str, str]:
    """The field that sets each source's topic, such as `usersTopic`."""
    return {name: f"{name}Topic" for name in sources}


def type_words(joins: Iterable[str]) -> dict[str, str]:
    """The field that sets each join's type: `joinType`; with several joins, `finalJoinType`."""
    names = tuple(joins)
    if len(names) == 1:
        return {names[0]: "joinType"}
    return {name: f"{name}JoinType" for name in names}
