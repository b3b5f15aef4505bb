"""Asking a cluster how it is without changing anything there."""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.kafka.diagnosis import Step, Trouble, diagnose, explained, knock, wants_login
from evergrid.kafka.identity import where
from evergrid.kafka.last_error import SHUT_OUT, Ear
from evergrid.kafka.topics import NewTopicSpec, new_topic

_REACH_SECONDS = 5.0
_SLOW_SECONDS = 15.0
_ASK_SECONDS = 20.0
_TRY_SECONDS = 1.0
_LOOK_SECONDS = 0.1
_KNOCK_SECONDS = 5.0  # of silence before it is looked into


class Reached(msgspec.Struct, frozen=True):
    """A cluster that answered."""

    cluster_id: str
    brokers: int
    topics: frozenset[str]


def reach(connection: Connection, seconds: float | None = None) -> Reached:
    """Connect; LinkError with the client's own reason when that does not succeed in time: if no
    other is given, a cluster that says nothing has longer than an address where nobody is."""
    ear = Ear()
    admin = clients.admin(connection, error_cb=ear)
    began = time.monotonic()
    refused = False
    while True:
        try:
            reached = _ask(admin, _TRY_SECONDS)
            # One whose brokers have just been held up knows none, until their next word to it.
            if reached.brokers or time.monotonic() - began > (seconds or _SLOW_SECONDS):
                return reached
            time.sleep(_LOOK_SECONDS)
        except KafkaException as error:
            admin.poll(0)  # hands over what was heard
            reason = ear.reason(error.args[0])
            limit = seconds or (_SLOW_SECONDS if ear.heard is None else _REACH_SECONDS)
            # Who is refused twice gets no other answer by asking again.
            if refused or time.monotonic() - began > limit:
                raise clients.link_error(connection, "connect", reason) from None
            refused = reason.code() in SHUT_OUT


class Pulse:
    """Tells silence from a broker that is gone, and why it does not let us in."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ear = Ear()
        self._admin = clients.admin(connection, error_cb=self._ear)
        self._silent_since: float | None = None
        self._asked_at = -_KNOCK_SECONDS
        self._found: Trouble | None = None

    def feel(self, seconds: float) -> Reached | None:
        """Who answers within `seconds`, or None."""
        reached = self._ask(seconds)
        heard = self._ear.heard
        if reached is None and heard is not None and heard.code() in SHUT_OUT:
            # A token may have expired on its way; who is shut out gets no answer the second time.
            reached = self._ask(seconds)
        if reached is None:
            self._listen()
            return None
        self._ear.forget()
        self._silent_since = self._found = None
        return reached

    def why(self) -> str:
        """A sentence for the last time that nobody answered."""
        if self._found is None:
            return f"{where(self._connection)} does not answer."
        return explained(self._connection, "connect", self._found).sentence()

    def _ask(self, seconds: float) -> Reached | None:
        try:
            return _ask(self._admin, seconds)
        except KafkaException:
            return None
        finally:
            self._admin.poll(0)  # hands over what was heard

    def _listen(self) -> None:
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        heard = self._ear.heard
        is_silent = now - self._silent_since > _KNOCK_SECONDS
        if now - self._asked_at < _KNOCK_SECONDS or (heard is None and not is_silent):
            return  # looking into it takes connections, of which a broker in trouble has few
        found = None if heard is None else diagnose(self._connection, heard.str())
        if found is None and is_silent:
            # A broker that wants another way in just hangs up: nothing is ever heard of that. And
            # what was found may be over, as when one that was stuck is ended.
            found = knock(self._connection) or wants_login(self._connection)
        self._asked_at = time.monotonic()
        if found is not None:
            self._found = None if found.step is Step.HOST else found


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
