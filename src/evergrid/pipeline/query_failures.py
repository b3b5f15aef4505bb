"""Why a query ended, classified by what can be done about it."""

from __future__ import annotations

import contextlib
import enum
import re
from collections.abc import Iterator

import msgspec
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from evergrid.model.errors import LinkError
from evergrid.pipeline.kafka_failures import REFUSED, kafka_failures

_WRAPPERS = ("SparkException", "StreamingQueryException", "QueryExecutionException")
_LONGEST = 200
DISK_FULL = "No space left on device"


class Cause(enum.Enum):
    """LOST: continuing would leave a gap or a wrong state, so a new generation is needed.
    UNWRITTEN: the disk could not be written, or Kafka denied access; no data are lost, however
    long that lasts.
    PASSING: the same query may succeed when it is restarted.
    """

    LOST = "lost"
    UNWRITTEN = "unwritten"
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
    "MISSING_STATE_DIRECTORY",
    "CANNOT_LOAD_CHECKPOINT",
    "Error reading delta file",
    "batch log",
    "offset log",
    "commit log",
    "does not match the one saved",
    "STATE_SCHEMA",
)


# A write that failed has changed nothing, so the same query can try again. So it is with what
# Kafka refused, in Java's words or already in ours.
_UNWRITTEN = (
    DISK_FULL,
    "WRITE_FAILURE",
    "CANNOT_WRITE",
    "CANNOT_COMMIT",
    "Kafka connection ",
    *REFUSED,
)


@contextlib.contextmanager
def told_plainly(doing: str) -> Iterator[None]:
    """Turn an exception of Spark into one sentence about what was being done (`doing`)."""
    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise LinkError(
            f"Spark could not {doing}: {_gist(str(error))}",
            remedy="The log directory's spark.log has the details.",
        ) from None


def failure_of(name: str, query: StreamingQuery) -> Failure | None:
    """Why the query `name` is not running; None while it runs, or if it was stopped."""
    error = query.exception()
    if error is None:
        return None
    text = str(error)
    return Failure(name, cause_of(text), _gist(text))


def cause_of(text: str) -> Cause:
    """The cause of a failure, by Spark's description."""
    if any(fragment in text for fragment in _UNWRITTEN):
        return Cause.UNWRITTEN
    if any(fragment in text for fragment in _LOST):
        return Cause.LOST
    return Cause.PASSING


def _gist(text: str) -> str:
    """The reason on one line: Spark wraps the exception that has it in many others."""
    if DISK_FULL in text:
        return DISK_FULL
    refused = kafka_failures.sentence(text)
    if refused is not None:
        return refused
    told = [
        f"{name}: {words}"
        for name, words in re.findall(r"(\w+(?:Exception|Error)): (\S[^\n]*)", text)
        if name not in _WRAPPERS
    ]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return kafka_failures.scrubbed((told or lines or ["no reason given"])[0])[:_LONGEST]
