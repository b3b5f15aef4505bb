"""Writes single records to Evergrid's own topics, and waits for the acknowledgement of each."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from evergrid.changelog import manifest
from evergrid.changelog.codec import Row
from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.manifest import Choices, Gaps, RequestedChanges, TablesBehind
from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.kafka.client_renewal import ClientRenewal
from evergrid.kafka.last_error import NO_ANSWER, LastError
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.generation import Generation, TableTopic
from evergrid.model.table import ID_SEPARATOR

_WRITE_SECONDS = 60.0

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
            raise clients.link_error(self._connection, f"write to {topic}", reason)
        self._last_error.clear()

    def _write(self, producer: Producer, topic: str, records: Sequence[Pair]) -> KafkaError | None:
        """The first error of these records; None if all were acknowledged."""
        errors: list[KafkaError | None] = []

        def delivered(error: KafkaError | None, _message: Message) -> None:
            errors.append(error)

        try:
            for key, value in records:
                producer.produce(topic, value, key, on_delivery=delivered)
            producer.flush(_WRITE_SECONDS)
        except KafkaException as error:
            return cast("KafkaError", error.args[0])
        except BufferError:  # the queue is full
            errors.append(KafkaError(clients.TIMED_OUT))
        failure = next((error for error in errors if error is not None), None)
        return failure or (KafkaError(clients.TIMED_OUT) if len(errors) < len(records) else None)

    def _new(self) -> Producer:
        return clients.producer(self._connection, error_cb=self._last_error)


class ManifestWriter:
    """Writes the records of the manifest; only the pipeline uses it."""

    def __init__(self, writer: RecordWriter, prefix: str) -> None:
        self._topic = manifest_topic(prefix)
        self._writer = writer

    def generation(self, generation: Generation) -> None:
        self._write(*manifest.encode_generation(generation))

    def current(self, number: int) -> None:
        self._write(*manifest.encode_current(number))

    def system(self, tables: Mapping[str, TableTopic]) -> None:
        self._write(*manifest.encode_system(tables))

    def write_heartbeat(self, at: int, behind: TablesBehind) -> None:
        """The heartbeat of the pipeline; `at` in microseconds since the epoch."""
        self._write(*manifest.encode_heartbeat(at, behind))

    def choices(self, choices: Choices) -> None:
        """What control messages may ask for."""
        self._write(*manifest.encode_choices(choices))

    def asked(self, asked: RequestedChanges) -> None:
        """What control messages have changed so far."""
        self._write(*manifest.encode_asked(asked))

    def numbered(self, highest: int) -> None:
        """The highest generation number that was used."""
        self._write(*manifest.encode_numbered(highest))

    def gaps(self, gaps: Gaps) -> None:
        """The gaps of all joined tables; this replaces the record before.

        Every reader gets each record, so write one only after a change, and no more often than a
        heartbeat.
        """
        self._write(*manifest.encode_gaps(gaps))

    def forget(self, number: int) -> None:
        """Remove a generation."""
        self._write(*manifest.encode_gone(number))

    def _write(self, key: bytes, value: bytes | None) -> None:
        self._writer.write(self._topic, (key, value))


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
