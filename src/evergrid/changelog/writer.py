"""Writes single records to Evergrid's own topics, and waits for the acknowledgement of each."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import cast

import msgspec
from confluent_kafka import KafkaError, KafkaException, Producer

from evergrid.changelog.codec import Row
from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.manifest import ManifestRecord, encode, generation_key
from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.kafka.client_renewal import ClientRenewal
from evergrid.kafka.last_error import NO_ANSWER, LastError
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.generation import TableTopic
from evergrid.model.table import ID_SEPARATOR

_WRITE_SECONDS = 60.0
_BEGIN_SECONDS = 30.0
_STEP_SECONDS = 1.0
_PAUSE_SECONDS = 0.05
_NO_TRANSACTIONS = (
    "Check that the broker runs and has transactions: transaction.state.log.replication.factor "
    "must be at most the number of brokers."
)

_FENCED = (
    KafkaError._FENCED,  # librdkafka marks its own errors with an underscore; they are public
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
)

Pair = tuple[bytes, bytes | None]  # a record's key and value


class RecordWriter:
    """Writes records; safe to use from several threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._renewal = ClientRenewal(connection)
        self._last_error = LastError()
        self._producer = self._new()

    def write(self, topic: str, *records: Pair) -> None:
        """LinkError unless the broker acknowledges all of them within a minute."""
        renewed = self._renewal.renew(self._new)
        if renewed is not None:
            self._producer = renewed
        failure = self._write(self._producer, topic, records)
        if failure is not None and failure.code() not in NO_ANSWER:
            # The client may have failed for good, for example after a permission was revoked:
            # only a new one notices that it was granted again.
            with contextlib.suppress(ConfigError, LinkError):  # retried with the next record
                self._producer = self._new()
                failure = self._write(self._producer, topic, records)
        if failure is not None:
            reason = self._last_error.reason(failure)
            raise clients.link_error(self._connection, f"write to topic {topic}", reason)
        self._last_error.clear()

    def _write(self, producer: Producer, topic: str, records: Sequence[Pair]) -> KafkaError | None:
        """The first error of these records; None if all were acknowledged."""
        errors: list[KafkaError | None] = []
        try:
            for key, value in records:
                producer.produce(
                    topic, value, key, on_delivery=lambda error, _: errors.append(error)
                )
            producer.flush(_WRITE_SECONDS)
        except KafkaException as error:
            return cast("KafkaError", error.args[0])
        except BufferError:  # the queue is full
            errors.append(KafkaError(clients.TIMED_OUT))
        failure = next((error for error in errors if error is not None), None)
        return failure or (KafkaError(clients.TIMED_OUT) if len(errors) < len(records) else None)

    def _new(self) -> Producer:
        return clients.producer(self._connection, error_cb=self._last_error)


class WriterFenced(LinkError):
    """Another writer with the same transactional id has begun."""


class FencedWriter(RecordWriter):
    """Writes records until another writer with the same transactional id begins.

    The broker gives each new producer of an id a higher epoch, and refuses all records of earlier
    ones. `check` is called before and after a new producer replaces one that failed or was
    refused; it raises if this writer may not go on. Each write is a transaction of its own, of
    which only the epoch is used: readers need not wait for its end.
    """

    def __init__(
        self, connection: Connection, transactional_id: str, check: Callable[[], None]
    ) -> None:
        self._id = transactional_id
        self._check = check
        self._lock = threading.Lock()
        self._failed = False  # the producer must be replaced
        super().__init__(connection)

    def write(self, topic: str, *records: Pair) -> None:
        """LinkError unless the broker acknowledges all of them within a minute."""
        with self._lock:
            renewed = self._renewal.renew(self._new)
            if renewed is not None:
                self._producer, self._failed = renewed, False
            for _ in range(2):
                if self._failed:
                    self._producer, self._failed = self._new(), False
                failure = self._write(self._producer, topic, records)
                self._failed = failure is not None
                if failure is None or failure.code() in NO_ANSWER:
                    break
            if failure is not None:
                raise self._error(f"write to topic {topic}", failure)
            self._last_error.clear()

    def _write(self, producer: Producer, topic: str, records: Sequence[Pair]) -> KafkaError | None:
        try:
            producer.begin_transaction()
            for key, value in records:
                producer.produce(topic, value, key)
        except KafkaException as error:
            return cast("KafkaError", error.args[0])
        except BufferError:  # the queue is full
            return KafkaError(clients.TIMED_OUT)
        return _in_steps(producer.commit_transaction, _WRITE_SECONDS)

    def _new(self) -> Producer:
        """A producer with a new epoch. The first check spares a rightful writer its refusal, the
        second one counts: from then on nobody else can have written."""
        self._check()
        given: dict[str, clients.Value] = {
            "error_cb": self._last_error,
            "transactional.id": self._id,
            "enable.idempotence": True,
        }
        producer = clients.producer(self._connection, **given)
        failure = _in_steps(producer.init_transactions, _BEGIN_SECONDS)
        if failure is not None:
            error = self._error(f"begin with the transactional id {self._id}", failure)
            if type(error) is LinkError:  # nothing better is known
                error = LinkError(error.what, where=error.where, remedy=_NO_TRANSACTIONS)
            raise error
        self._check()
        return producer

    def _error(self, doing: str, failure: KafkaError) -> LinkError:
        reason = self._last_error.reason(failure)
        told = clients.link_error(self._connection, doing, reason)
        if failure.code() not in _FENCED:
            return told
        return WriterFenced(told.what, where=told.where)


def _in_steps(call: Callable[[float], None], seconds: float) -> KafkaError | None:
    """Wait for a step of a transaction; its error, None if it succeeded. Called again after a
    timeout, the client resumes it; in between Python handles signals."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            call(_STEP_SECONDS)
        except KafkaException as error:
            failure = cast("KafkaError", error.args[0])
            if failure.retriable() and time.monotonic() < deadline:
                time.sleep(_PAUSE_SECONDS)
                continue
            return failure
        return None


class ManifestWriter:
    """Writes the records of the manifest; only the pipeline uses it.

    Every reader gets each record, so write one only after a change, and no more often than a
    heartbeat.
    """

    def __init__(self, writer: RecordWriter, prefix: str) -> None:
        self._topic = manifest_topic(prefix)
        self._writer = writer

    def write(self, record: ManifestRecord) -> None:
        self._writer.write(self._topic, encode(record))

    def forget(self, number: int) -> None:
        """Remove a generation."""
        self._writer.write(self._topic, (generation_key(number), None))


class TableWriter:
    """Writes rows of a table without generations."""

    def __init__(self, writer: RecordWriter, target: TableTopic) -> None:
        self._writer = writer
        self._target = target

    def put(self, *rows: Row) -> None:
        """Write rows in one flush, which takes hardly longer than one row."""
        if rows:
            self._writer.write(self._target.topic, *map(self._pair, rows))

    def _pair(self, row: Row) -> Pair:
        row_id = ID_SEPARATOR.join(str(row[name]) for name in self._target.table.row_id)
        return row_id.encode(), msgspec.json.encode(row)
