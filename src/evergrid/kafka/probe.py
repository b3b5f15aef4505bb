"""Asking a cluster how it is without changing anything there."""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.kafka.topics import NewTopicSpec, new_topic

_REACH_SECONDS = 5.0
_ASK_SECONDS = 20.0
_TRY_SECONDS = 1.0
# No second attempt gives another answer to these.
_FINAL = (clients.AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, clients.TLS)


class Reached(msgspec.Struct, frozen=True):
    """A cluster that answered."""

    cluster_id: str
    brokers: int
    topics: frozenset[str]


def reach(connection: Connection, seconds: float = _REACH_SECONDS) -> Reached:
    """Connect; LinkError with the client's own reason when that does not succeed in time."""
    heard: list[KafkaError] = []
    admin = clients.admin(connection, error_cb=heard.append)
    deadline = time.monotonic() + seconds
    while True:
        try:
            return _ask(admin, _TRY_SECONDS)
        except KafkaException as error:
            admin.poll(0)  # hands over what was heard
            # "All brokers are down" follows each reason and says less than the reason.
            reasons = [known for known in heard if known.code() != clients.ALL_DOWN]
            final = any(known.code() in _FINAL for known in reasons)
            if final or time.monotonic() > deadline:
                reason = reasons[-1] if reasons else error
                raise clients.link_error(connection, "connect", reason) from None


class Pulse:
    """Tells silence from a broker that is gone."""

    def __init__(self, connection: Connection) -> None:
        self._admin = clients.admin(connection)

    def feel(self, seconds: float) -> Reached | None:
        """Who answers within `seconds`, or None."""
        try:
            return _ask(self._admin, seconds)
        except KafkaException:
            return None


def rehearse(connection: Connection, wanted: Iterable[NewTopicSpec]) -> None:
    """LinkError unless these topics exist or could be made; nothing is made."""
    new = [new_topic(spec) for spec in wanted]
    admin = clients.admin(connection)  # named, for without it the answers never come
    answers = admin.create_topics(new, request_timeout=_ASK_SECONDS, validate_only=True)
    for name, answer in answers.items():
        try:
            answer.result(timeout=_ASK_SECONDS + 5.0)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise clients.link_error(connection, f"create topic {name}", error) from None


def _ask(admin: AdminClient, seconds: float) -> Reached:
    metadata = admin.list_topics(timeout=seconds)
    there = (name for name, topic in metadata.topics.items() if topic.error is None)
    return Reached(str(metadata.cluster_id), len(metadata.brokers), frozenset(there))
