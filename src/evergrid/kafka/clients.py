"""Python clients for a connection, with its security, limits and a log without repetitions.

librdkafka logs to Python's `logging`, never to the terminal. A failure becomes a LinkError that
names connection, address and remedy. Settings that a client refuses are a ConfigError; if a client
was made with them before, a file that they name has changed, perhaps only while secrets are being
rotated: that is a LinkError.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Hashable, Iterator, Mapping
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
from evergrid.kafka.log_dedup import LogDedup
from evergrid.kafka.properties import python_properties
from evergrid.kafka.property_names import Role
from evergrid.model.errors import ConfigError, LinkError

LOG = logging.getLogger("evergrid.kafka")
LOG.addHandler(logging.NullHandler())  # or Python would print what nobody configured to see

# Beside plain values a client takes a `logger`, and callbacks such as `error_cb`.
Value = str | int | float | bool | logging.Logger | LogDedup | Callable[..., object]

# Defaults, which a connection or a caller may override.
_ANY: Mapping[str, Value] = {
    "client.id": "evergrid",
    # Of one request; librdkafka's own minute is longer than a person waits for an error.
    "socket.timeout.ms": 20_000,
    "socket.keepalive.enable": True,
}
# librdkafka's default of 100 ms asks a broker that is down twenty times a second. Set both or none:
# one of ours may contradict one of the user's.
_RECONNECT: Mapping[str, Value] = {
    "reconnect.backoff.ms": 250,
    "reconnect.backoff.max.ms": 2_000,
}
_PRODUCER: Mapping[str, Value] = {
    # Retries then neither reorder nor repeat a message.
    "enable.idempotence": True,
    "delivery.timeout.ms": 60_000,
}
_CONSUMER: Mapping[str, Value] = {
    "group.id": "evergrid",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    # A position that is gone must be an error: skipping in silence would lose rows.
    "auto.offset.reset": "error",
    # As the Java client inside Spark reads unless told otherwise; librdkafka differs.
    "isolation.level": "read_uncommitted",
}

# librdkafka marks its own errors with an underscore in front; they are public all the same.
AUTHENTICATION = KafkaError._AUTHENTICATION
TIMED_OUT = KafkaError._TIMED_OUT
TLS = KafkaError._SSL

_ANSWER_SECONDS = 20.0
_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")

_REMEDIES: Mapping[int, str] = {
    **dict.fromkeys(
        NO_ANSWER, "Check that the broker runs and that kafka.bootstrap is its address."
    ),
    TLS: "Check security.protocol and the ssl.* settings under kafka.properties.",
    AUTHENTICATION: "Check user, password and sasl.mechanism under kafka.properties.",
    KafkaError.UNKNOWN_TOPIC_OR_PART: "Create the topic, or correct its name.",
    KafkaError.INVALID_REPLICATION_FACTOR: "Set internal_topics.replication to at most the "
    "number of brokers.",
}


def producer(connection: Connection, **overrides: Value) -> Producer:
    """A producer that keeps order and gives up on a message after a bounded time."""
    with _making(connection, Role.PRODUCER):
        return Producer(_settings(connection, Role.PRODUCER, _PRODUCER, overrides))


def consumer(connection: Connection, **overrides: Value) -> Consumer:
    """A consumer that commits nothing by itself and never skips in silence."""
    with _making(connection, Role.CONSUMER):
        return Consumer(_settings(connection, Role.CONSUMER, _CONSUMER, overrides))


def admin(connection: Connection, **overrides: Value) -> AdminClient:
    """A client for describing, creating and deleting topics."""
    with _making(connection, Role.ANY):
        return AdminClient({}, **_settings(connection, Role.ANY, {}, overrides))


def wait_for(answers: Mapping[_Key, Future[_Answer]], connection: Connection, doing: str) -> None:
    """Wait until an admin client has done all that was asked; LinkError when it has not."""
    try:
        for answer in answers.values():
            answer.result(timeout=_ANSWER_SECONDS)
    except KafkaException as error:
        raise link_error(connection, doing, error) from None


def link_error(connection: Connection, doing: str, error: KafkaException | KafkaError) -> LinkError:
    """The error for a failure of `doing` (such as "read topic users") on a connection."""
    cause = error.args[0] if isinstance(error, KafkaException) and error.args else error
    reason, code = str(cause), None
    if isinstance(cause, KafkaError):
        reason, code = cause.str(), cause.code()
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


@contextlib.contextmanager
def _making(connection: Connection, role: Role) -> Iterator[None]:
    """Turn what a client refuses into the error that it is."""
    lines = (connection.properties, connection.java, connection.python)
    given = (role, connection.name, connection.bootstrap, *(frozenset(x.items()) for x in lines))
    try:
        try:
            yield
        except (KafkaException, ValueError, TypeError) as error:
            raise _refused(connection, error) from None
    except ConfigError as error:
        if given not in _good:
            raise
        remedy = "These settings worked before: correct the files that they name; they are "
        raise LinkError(
            error.what, where=error.where, remedy=f"{remedy}reloaded automatically."
        ) from None
    _good.add(given)


def _settings(
    connection: Connection,
    role: Role,
    defaults: Mapping[str, Value],
    overrides: Mapping[str, Value],
) -> dict[str, Value]:
    # Each new client reads the secrets again: that is how they are rotated.
    given = python_properties(connection.renewed(), role)
    settings = {**_ANY, **defaults, **given, **overrides}
    if not _RECONNECT.keys() & settings.keys():
        settings |= _RECONNECT
    logger = settings.get("logger", LOG)
    settings["logger"] = _dedup(logger) if isinstance(logger, logging.Logger) else logger
    return settings


@functools.cache
def _dedup(logger: logging.Logger) -> LogDedup:
    """One for all clients that share a logger: they report the same broker that is down."""
    return LogDedup(logger)


def _refused(connection: Connection, error: Exception) -> ConfigError:
    cause = error.args[0] if error.args else error
    reason = cause.str() if isinstance(cause, KafkaError) else str(cause)
    return ConfigError(
        f"the Python client refuses its settings: {scrub(connection, reason)}",
        where=f"Kafka connection {connection.name}",
        remedy="Correct that value under kafka.properties or kafka.python.",
    )
