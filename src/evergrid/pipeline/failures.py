"""Why a query ended, told apart by what can be done about it."""

from __future__ import annotations

import enum

import msgspec
from pyspark.sql.streaming.query import StreamingQuery


class Cause(enum.Enum):
    """LOST: going on would leave a gap or a wrong state, so a new generation is due.
    PASSING: the same query may well run when started again.
    """

    LOST = "lost"
    PASSING = "passing"


class Failure(msgspec.Struct, frozen=True):
    query: str
    cause: Cause
    text: str


# Fragments of what Spark says when input or state that it needs is gone.
_LOST = (
    "DATA_LOSS",
    "data may have been lost",
    "OffsetOutOfRange",
    "offset was changed from",
    "partitions are gone",
    "partitions have been deleted",
    "FAILED_READ_FILE",
    "CANNOT_LOAD_STATE_STORE",
    "STATE_STORE_",
    "CANNOT_LOAD_CHECKPOINT",
    "Error reading delta file",
    "batch log",
    "offset log",
    "commit log",
    "does not match the one saved",
    "STATE_SCHEMA",
)


def failure_of(query: StreamingQuery) -> Failure | None:
    """Why `query` is not running; None while it is, or when it was asked to stop."""
    error = query.exception()
    if error is None:
        return None
    text = str(error)
    cause = Cause.LOST if any(fragment in text for fragment in _LOST) else Cause.PASSING
    return Failure(query.name or "", cause, _gist(text))


def _gist(text: str) -> str:
    """The innermost reason, on one line: Spark wraps it in many that say less."""
    lines = [line.strip() for line in text.splitlines()]
    causes = [line.removeprefix("Caused by:").strip() for line in lines if "Caused by:" in line]
    gist = causes[-1] if causes else next((line for line in lines if line), "no reason given")
    return gist[:300]
