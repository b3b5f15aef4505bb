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

from evergrid.config.settings import Connection, Settings
from evergrid.kafka.cluster_probe import reach
from evergrid.kafka.diagnosis import Step, access_error, diagnose
from evergrid.kafka.identity import scrub
from evergrid.model.errors import ConfigError, LinkError

_WRAPPERS = ("SparkException", "StreamingQueryException", "QueryExecutionException")
_LONGEST = 200
_REACH_SECONDS = 5.0
_TOPICS = re.compile(r"Not authorized to access topics: \[([^\]]*)\]")
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


# What the Java client says when it is not let in, whatever the reason.
_REFUSED = (
    "AuthenticationException",
    "AuthorizationException",
    "LoginException",
    "UnsupportedSaslMechanism",
    "SSLHandshakeException",
    "Failed to create new KafkaAdminClient",
    "Failed to construct kafka",
)

# A write that failed has changed nothing, so the same query can try again. So it is with what
# Kafka refused, in Java's words or already in ours.
_UNWRITTEN = (
    DISK_FULL,
    "WRITE_FAILURE",
    "CANNOT_WRITE",
    "CANNOT_COMMIT",
    "Kafka connection ",
    *_REFUSED,
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


class KafkaFailures:
    """Explains Kafka errors of a query, once it has settings, in the same sentences as the Python
    client.

    Spark wraps the errors of its Java client, which say less than those of the Python client: about
    a token that could not be fetched, for example, nothing. So the Python client is tried as well.
    """

    settings: Settings | None = None

    def sentence(self, text: str) -> str | None:
        """The meaning of Spark's `text`; None if access was not denied."""
        if self.settings is None or not any(words in text for words in _REFUSED):
            return None
        if denied := _TOPICS.search(text):
            prefix = f"{self.settings.internal_topics.prefix}."
            if any(topic.startswith(prefix) for topic in denied[1].split(", ")):
                return _diagnosed(self.settings.kafka.internal, f"write to topic {denied[1]}", text)
            return _diagnosed(self.settings.kafka.source, f"read topic {denied[1]}", text)
        for connection in self._connections():
            try:
                reach(connection, _REACH_SECONDS)
            except (LinkError, ConfigError) as error:
                return error.sentence()
        # The Python client may connect, so only the Java client fails, and its text has the reason.
        found = (_diagnosed(each, "connect from Spark", text) for each in self._connections())
        return next(filter(None, found), None)

    def scrubbed(self, text: str) -> str:
        """`text` without the pipeline's secrets."""
        for connection in self._connections():
            text = scrub(connection, text)
        return text

    def _connections(self) -> tuple[Connection, ...]:
        kafka = self.settings and self.settings.kafka
        return (kafka.source, kafka.internal) if kafka else ()


def _diagnosed(connection: Connection, doing: str, text: str) -> str | None:
    trouble = diagnose(connection, text)
    if trouble is None or trouble.step is Step.HOST:
        return None
    return access_error(connection, doing, trouble).sentence()


kafka_failures = KafkaFailures()  # of the one pipeline that a process runs
