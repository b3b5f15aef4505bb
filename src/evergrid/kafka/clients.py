"""Python clients for a connection: with its security, with limits, and with a quiet log.

What librdkafka has to say goes to Python's `logging`, never to the terminal; what fails
becomes a LinkError that names connection and address and says what to look at. Settings that no
client can be made with are a ConfigError. If one was made with them before, a file that they name
has changed, perhaps for a moment while secrets are rotated: that is a LinkError too.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Hashable, Iterator, Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from evergrid.config.settings import Connection
from evergrid.kafka.diagnosis import Trouble, diagnose, explained, knock, wants_login
from evergrid.kafka.identity import scrub, where
from evergrid.kafka.last_error import ALL_DOWN, SILENCE, is_broken_off
from evergrid.kafka.log_dedup import Quiet
from evergrid.kafka.properties import python_properties
from evergrid.kafka.property_names import Role
from evergrid.model.errors import ConfigError, LinkError

LOG = logging.getLogger("evergrid.kafka")
LOG.addHandler(logging.NullHandler())  # or Python would print what nobody configured to see

# Beside plain values a client takes a `logger`, and callbacks such as `error_cb`.
Value = str | int | float | bool | logging.Logger | Quiet | Callable[..., object]

# What a connection or a caller may set otherwise.
_ANY: Mapping[str, Value] = {
    "client.id": "evergrid",
    # Of one request; librdkafka's own minute is longer than a person waits for a sentence.
    "socket.timeout.ms": 20_000,
    "socket.keepalive.enable": True,
}
# librdkafka's 100 would ask a broker that is down twenty times a second. Both or none: one of ours
# may not go with one of the user's.
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

_REMEDIES: Mapping[int, str] = {
    **dict.fromkeys(SILENCE, "Check that the broker runs and that kafka.bootstrap is its address."),
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


def link_error(connection: Connection, doing: str, error: KafkaException | KafkaError) -> LinkError:
    """The sentence for a failure of `doing` (such as "read topic users") on a connection."""
    cause = error.args[0] if isinstance(error, KafkaException) and error.args else error
    reason, code = str(cause), None
    if isinstance(cause, KafkaError):
        reason, code = cause.str(), cause.code()
    trouble = _trouble(connection, code, reason)
    if trouble is not None:
        return explained(connection, doing, trouble)
    return LinkError(
        f"could not {doing}: {scrub(connection, reason)}",
        where=where(connection),
        remedy=_REMEDIES.get(code or 0, ""),
    )


def _trouble(connection: Connection, code: int | None, reason: str) -> Trouble | None:
    found = diagnose(connection, reason)
    if found is None and (code in SILENCE or is_broken_off(reason)):
        found = knock(connection)
        if found is None and code in (ALL_DOWN, KafkaError._TRANSPORT):
            found = wants_login(connection)
    return found


_good: set[Hashable] = set()  # settings that a client was made with


@contextlib.contextmanager
def _making(connection: Connection, role: Role) -> Iterator[None]:
    """What a client refuses, as the error that it is."""
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
        remedy = "These settings were good before: correct the files that they name, which are "
        raise LinkError(
            error.what, where=error.where, remedy=f"{remedy}read again by themselves."
        ) from None
    _good.add(given)


def _settings(
    connection: Connection,
    role: Role,
    defaults: Mapping[str, Value],
    overrides: Mapping[str, Value],
) -> dict[str, Value]:
    # Whoever makes a client gets the secrets of now: that is how they are rotated.
    given = python_properties(connection.renewed(), role)
    settings = {**_ANY, **defaults, **given, **overrides}
    if not _RECONNECT.keys() & settings.keys():
        settings |= _RECONNECT
    logger = settings.get("logger", LOG)
    settings["logger"] = _quiet(logger) if isinstance(logger, logging.Logger) else logger
    return settings


@functools.cache
def _quiet(logger: logging.Logger) -> Quiet:
    """One for all clients that share a logger, since they meet the same broker that is down."""
    return Quiet(logger)


def _refused(connection: Connection, error: Exception) -> ConfigError:
    cause = error.args[0] if error.args else error
    reason = cause.str() if isinstance(cause, KafkaError) else str(cause)
    return ConfigError(
        f"the Python client refuses its settings: {scrub(connection, reason)}",
        where=f"Kafka connection {connection.name}",
        remedy="Correct that value under kafka.properties or kafka.python.",
    )
