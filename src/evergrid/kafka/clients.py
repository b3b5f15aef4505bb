"""Python clients for a connection, with its security, limits and a log without repetitions.

librdkafka logs to Python's `logging`, never to the terminal. A failure becomes a LinkError that
names connection, address and remedy. Settings that a client refuses are a ConfigError; if a client
was made with them before, a file that they name has changed, perhaps only while secrets are being
rotated: that is a LinkError.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from evergrid.config.settings import Connection
from evergrid.kafka.diagnosis import (
    Diagnosis,
    access_error,
    diagnose,
    probe_connection,
    wants_login,
)
from evergrid.kafka.identity import scrub, where
from evergrid.kafka.last_error import ALL_BROKERS_DOWN, NO_ANSWER, is_login_aborted
from evergrid.kafka.properties import python_properties
from evergrid.kafka.property_names import Role
from evergrid.model.errors import ConfigError, LinkError

LOG = logging.getLogger("evergrid.kafka")
LOG.addHandler(logging.NullHandler())  # or Python would print what nobody configured to see

_REPEAT_SECONDS = 60.0
_MOST_TEXTS = 256  # beyond that all are forgotten and may be logged again
_VARYING = re.compile(r"\d+ms|#\w+-\d+")  # waiting times and numbers of clients


class LogDedup:
    """Passes a text on to a logger at most once a minute; librdkafka calls only `log`.

    It reports a broker that is down again and again for hours.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def log(self, level: int, text: str, *values: object) -> None:
        message = text % values if values else text
        key = _VARYING.sub("", message)
        now = time.monotonic()
        with self._lock:
            if now < self._next.get(key, 0.0):
                return
            if len(self._next) >= _MOST_TEXTS:
                self._next.clear()
            self._next[key] = now + _REPEAT_SECONDS
        self._logger.log(level, "%s", message)


# Beside plain values a client takes a `logger`, and callbacks such as `error_cb`.
Value = str | int | float | bool | LogDedup | Callable[..., object]

# Defaults, which a connection or a caller may override.
_DEFAULTS: Mapping[Role, Mapping[str, Value]] = {
    Role.ANY: {
        "client.id": "evergrid",
        # Of one request; librdkafka's own minute is longer than a person waits for an error.
        "socket.timeout.ms": 20_000,
        "socket.keepalive.enable": True,
    },
    Role.PRODUCER: {
        # Retries then neither reorder nor repeat a message.
        "enable.idempotence": True,
        "delivery.timeout.ms": 60_000,
    },
    Role.CONSUMER: {
        "group.id": "evergrid",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        # A position that is gone must be an error: skipping in silence would lose rows.
        "auto.offset.reset": "error",
        # As the Java client inside Spark reads unless told otherwise; librdkafka differs.
        "isolation.level": "read_uncommitted",
    },
}
# librdkafka's default of 100 ms asks a broker that is down twenty times a second. Set both or none:
# one of ours may contradict one of the user's.
_RECONNECT: Mapping[str, Value] = {"reconnect.backoff.ms": 250, "reconnect.backoff.max.ms": 2_000}

# librdkafka marks its own errors with an underscore in front; they are public all the same.
TIMED_OUT = KafkaError._TIMED_OUT

_ANSWER_SECONDS = 20.0
_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")
_Client = TypeVar("_Client")

_REMEDIES: Mapping[int, str] = {
    **dict.fromkeys(
        NO_ANSWER, "Check that the broker runs and that kafka.bootstrap is its address."
    ),
    KafkaError._SSL: "Check security.protocol and the ssl.* settings under kafka.properties.",
    KafkaError._AUTHENTICATION: "Check user, password and sasl.mechanism under kafka.properties.",
    KafkaError.UNKNOWN_TOPIC_OR_PART: "Create the topic, or correct its name.",
    KafkaError.INVALID_REPLICATION_FACTOR: "Set internal_topics.replication to at most the "
    "number of brokers.",
}


def producer(connection: Connection, **overrides: Value) -> Producer:
    """A producer that keeps order and gives up on a message after a bounded time."""
    return _made(Producer, connection, Role.PRODUCER, overrides)


def consumer(connection: Connection, **overrides: Value) -> Consumer:
    """A consumer that commits nothing by itself and never skips in silence."""
    return _made(Consumer, connection, Role.CONSUMER, overrides)


def admin(connection: Connection, **overrides: Value) -> AdminClient:
    """A client for describing, creating and deleting topics."""
    return _made(lambda told: AdminClient({}, **told), connection, Role.ANY, overrides)


def wait_for(answers: Mapping[_Key, Future[_Answer]], connection: Connection, doing: str) -> None:
    """Wait until an admin client has done all that was asked; LinkError when it has not."""
    try:
        for answer in answers.values():
            answer.result(timeout=_ANSWER_SECONDS)
    except KafkaException as error:
        raise link_error(connection, doing, error) from None


def link_error(connection: Connection, doing: str, error: KafkaException | KafkaError) -> LinkError:
    """The error for a failure of `doing` (such as "read topic users") on a connection."""
    reason, code = _reason(error)
    diagnosis = _diagnosis(connection, code, reason)
    if diagnosis is not None:
        return access_error(connection, doing, diagnosis)
    return LinkError(
        f"could not {doing}: {scrub(connection, reason)}",
        where=where(connection),
        remedy=_REMEDIES.get(code or 0, ""),
    )


def _diagnosis(connection: Connection, code: int | None, reason: str) -> Diagnosis | None:
    found = diagnose(connection, reason)
    if found is None and (code in NO_ANSWER or is_login_aborted(reason)):
        found = probe_connection(connection)
        if found is None and code in (ALL_BROKERS_DOWN, KafkaError._TRANSPORT):
            found = wants_login(connection)
    return found


_good: set[Hashable] = set()  # settings that a client was made with
_LOG_ONCE = LogDedup(LOG)  # one for all clients: they report the same broker that is down


def _made(
    make: Callable[[dict[str, Value]], _Client],
    connection: Connection,
    role: Role,
    overrides: Mapping[str, Value],
) -> _Client:
    """A client; what it refuses becomes the error that it is."""
    lines = (connection.properties, connection.java, connection.python)
    given = (role, connection.name, connection.bootstrap, *(frozenset(x.items()) for x in lines))
    try:
        # Each new client reads the secrets again: that is how they are rotated.
        own = python_properties(connection.renewed(), role)
        defaults = {"logger": _LOG_ONCE, **_DEFAULTS[Role.ANY], **_DEFAULTS[role]}
        settings = {**defaults, **own, **overrides}
        if not _RECONNECT.keys() & settings.keys():
            settings |= _RECONNECT
        client = make(settings)
    except (ConfigError, KafkaException, ValueError, TypeError) as error:
        refused = error if isinstance(error, ConfigError) else _refused(connection, error)
        if given not in _good:
            raise refused from None
        remedy = "These settings worked before: correct the files that they name; they are "
        remedy += "reloaded automatically."
        raise LinkError(refused.what, where=refused.where, remedy=remedy) from None
    _good.add(given)
    return client


def _refused(connection: Connection, error: Exception) -> ConfigError:
    return ConfigError(
        f"the Python client refuses its settings: {scrub(connection, _reason(error)[0])}",
        where=f"Kafka connection {connection.name}",
        remedy="Correct that value under kafka.properties or kafka.python.",
    )


def _reason(error: Exception | KafkaError) -> tuple[str, int | None]:
    """What the client says, and its error code if it has one."""
    cause = error.args[0] if isinstance(error, Exception) and error.args else error
    return (cause.str(), cause.code()) if isinstance(cause, KafkaError) else (str(cause), None)
