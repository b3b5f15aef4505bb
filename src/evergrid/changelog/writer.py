"""Writing Evergrid's own topics by hand: each record is on the broker's disk when this returns."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from confluent_kafka import KafkaError, Message, Producer

from evergrid.changelog import manifest
from evergrid.changelog.codec import Row
from evergrid.changelog.manifest import Asked, Choices
from evergrid.changelog.names import manifest_topic
from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.model.errors import LinkError
from evergrid.model.generation import Generation, TableTopic
from evergrid.model.table import ID_SEPARATOR

_WRITE_SECONDS = 60.0


class RecordWriter:
    """Writes single records; several threads may do so at once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._producer: Producer = clients.producer(connection)

    def write(self, topic: str, key: bytes, value: bytes | None) -> None:
        failures: list[KafkaError] = []

        def delivered(error: KafkaError | None, _message: Message) -> None:
            if error is not None:
                failures.append(error)

        self._producer.produce(topic, value, key, on_delivery=delivered)
        left = self._producer.flush(_WRITE_SECONDS)
        if failures:
            raise clients.link_error(self._connection, f"write to {topic}", failures[0])
        if left:
            raise LinkError(
                f"not written within {_WRITE_SECONDS:.0f} seconds",
                where=f"topic {topic}",
                remedy="Check that the broker runs and lets this user write there.",
            )


class ManifestWriter:
    """The one who may say what is current."""

    def __init__(self, connection: Connection, prefix: str) -> None:
        self._topic = manifest_topic(prefix)
        self._writer = RecordWriter(connection)

    def generation(self, generation: Generation) -> None:
        self._write(*manifest.encode_generation(generation))

    def current(self, number: int) -> None:
        self._write(*manifest.encode_current(number))

    def system(self, tables: Mapping[str, TableTopic]) -> None:
        self._write(*manifest.encode_system(tables))

    def pulse(self, at: int) -> None:
        """Say that the pipeline runs; `at` in microseconds since the epoch."""
        self._write(*manifest.encode_pulse(at))

    def choices(self, choices: Choices) -> None:
        """Say what control messages may ask for."""
        self._write(*manifest.encode_choices(choices))

    def asked(self, asked: Asked) -> None:
        """Say what they have changed so far."""
        self._write(*manifest.encode_asked(asked))

    def numbered(self, highest: int) -> None:
        """Say which numbers have been used."""
        self._write(*manifest.encode_numbered(highest))

    def forget(self, number: int) -> None:
        """Say that a generation is gone."""
        self._write(*manifest.encode_gone(number))

    def _write(self, key: bytes, value: bytes | None) -> None:
        self._writer.write(self._topic, key, value)


class TableWriter:
    """Writes rows of a table that belongs to no generation."""

    def __init__(self, connection: Connection, target: TableTopic) -> None:
        self._writer = RecordWriter(connection)
        self._target = target

    def put(self, row: Row) -> None:
        row_id = ID_SEPARATOR.join(str(row[name]) for name in self._target.table.row_id)
        self._writer.write(self._target.topic, row_id.encode(), msgspec.json.encode(row))
