"""Whether a cluster answers, and why not; nothing is changed there."""

from __future__ import annotations

import time

import msgspec
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.kafka.diagnosis import (
    Diagnosis,
    Step,
    access_error,
    diagnose,
    probe_connection,
    wants_login,
)
from evergrid.kafka.identity import where
from evergrid.kafka.last_error import ACCESS_DENIED, LastError

_REACH_SECONDS = 5.0
_SLOW_SECONDS = 15.0
_TRY_SECONDS = 1.0
_POLL_SECONDS = 0.1
_DIAGNOSE_SECONDS = 5.0  # without an answer before the reason is looked for, and between looks


class ClusterInfo(msgspec.Struct, frozen=True):
    """A cluster that answered."""

    cluster_id: str
    brokers: int
    topics: frozenset[str]


def reach(connection: Connection, seconds: float | None = None) -> ClusterInfo:
    """Connect; LinkError with the client's own reason when that does not succeed in time.

    Without `seconds`, a cluster that does not answer has more time than one that reports errors.
    """
    last_error = LastError()
    admin = clients.admin(connection, error_cb=last_error)
    began = time.monotonic()
    refused = False
    while True:
        try:
            reached = _ask(admin, _TRY_SECONDS)
            # A controller whose brokers were held up lists none until their next heartbeat.
            if reached.brokers or time.monotonic() - began > (seconds or _SLOW_SECONDS):
                return reached
            time.sleep(_POLL_SECONDS)
        except KafkaException as error:
            admin.poll(0)  # calls error_cb
            reason = last_error.reason(error.args[0])
            limit = seconds or (_SLOW_SECONDS if last_error.error is None else _REACH_SECONDS)
            # A third attempt would be refused as well.
            if refused or time.monotonic() - began > limit:
                raise clients.link_error(connection, "connect", reason) from None
            refused = reason.code() in ACCESS_DENIED


class ClusterProbe:
    """Asks one cluster again and again whether it answers, and finds out why not."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last_error = LastError()
        self._admin = clients.admin(connection, error_cb=self._last_error)
        self._silent_since: float | None = None
        self._asked_at = -_DIAGNOSE_SECONDS
        self._found: Diagnosis | None = None

    def ask(self, seconds: float) -> ClusterInfo | None:
        """The cluster, if it answers within `seconds`, or None."""
        reached = self._ask(seconds)
        error = self._last_error.error
        if reached is None and error is not None and error.code() in ACCESS_DENIED:
            # A token may have expired meanwhile. Otherwise the second request fails as well.
            reached = self._ask(seconds)
        if reached is None:
            self._diagnose()
            return None
        self._last_error.clear()
        self._silent_since = self._found = None
        return reached

    def reason(self) -> str:
        """A sentence that says why nobody answered the last time."""
        if self._found is None:
            return f"{where(self._connection)} does not answer."
        return access_error(self._connection, "connect", self._found).sentence()

    def _ask(self, seconds: float) -> ClusterInfo | None:
        try:
            return _ask(self._admin, seconds)
        except KafkaException:
            return None
        finally:
            self._admin.poll(0)  # calls error_cb

    def _diagnose(self) -> None:
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        error = self._last_error.error
        is_silent = now - self._silent_since > _DIAGNOSE_SECONDS
        if now - self._asked_at < _DIAGNOSE_SECONDS or (error is None and not is_silent):
            return  # a diagnosis takes connections, of which a broker in trouble has few
        found = None if error is None else diagnose(self._connection, error.str())
        if found is None and is_silent:
            # A broker that wants another protocol just closes the connection, without any error.
            # And an earlier diagnosis may be out of date, as when a broker that was stuck ended.
            found = probe_connection(self._connection) or wants_login(self._connection)
        self._asked_at = time.monotonic()
        if found is not None:
            self._found = None if found.step is Step.HOST else found


def _ask(admin: AdminClient, seconds: float) -> ClusterInfo:
    metadata = admin.list_topics(timeout=seconds)
    there = (name for name, topic in metadata.topics.items() if topic.error is None)
    return ClusterInfo(str(metadata.cluster_id), len(metadata.brokers), frozenset(there))
