"""Send messages to topics, and get their offsets."""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.kafka.identity import where
from evergrid.kafka.last_error import LastError
from evergrid.model.errors import LinkError

_FLUSH_SECONDS = 60.0
_FULL_SECONDS = 0.05


class SentPosition(msgspec.Struct, frozen=True):
    """Where a message is."""

    topic: str
    partition: int
    offset: int


class Sender:
    """Sends in the background; `flush` waits until the broker has everything."""

    def __init__(self, connection: Connection, **overrides: clients.Value) -> None:
        self._connection = connection
        self._last_error = LastError()
        self._producer: Producer = clients.producer(
            connection, **{"error_cb": self._last_error, **overrides}
        )
        self._failure: KafkaError | None = None
        self._topic = ""  # of the failure, or else of the newest message

    def send(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        *,
        timestamp_ms: int = 0,
        partition: int = -1,
        headers: Mapping[str, str] | None = None,
        sent: list[SentPosition | None] | None = None,
    ) -> None:
        """Send one message; its partition and offset are appended to `sent` once they are known."""
        self._topic = self._topic if self._failure else topic
        sent = [] if sent is None else sent
        index = len(sent)
        sent.append(None)

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self._failure, self._topic = error, topic
            else:
                part, offset = message.partition(), message.offset()
                assert part is not None
                assert offset is not None
                sent[index] = SentPosition(topic, part, offset)

        while True:
            try:
                self._producer.produce(
                    topic,
                    value,
                    key,
                    partition=partition,
                    timestamp=timestamp_ms,
                    headers=[(name, text.encode()) for name, text in (headers or {}).items()],
                    on_delivery=delivered,
                )
            except BufferError:  # the queue is full: wait for the broker
                self._producer.poll(_FULL_SECONDS)
                continue
            self._producer.poll(0)
            return

    def flush(self, seconds: float = _FLUSH_SECONDS) -> None:
        """LinkError unless everything sent so far has arrived within `seconds`."""
        deadline = time.monotonic() + seconds
        try:
            left = self._producer.flush(seconds)
        except KafkaException as error:  # a fatal error of the client
            raise self._error(error) from None
        if self._failure is not None:
            failure, self._failure = self._last_error.reason(self._failure), None
            raise self._error(failure)
        if left or time.monotonic() > deadline:
            raise LinkError(
                f"{left} messages were not delivered within {seconds:.0f} seconds",
                where=where(self._connection),
                remedy="Check that the broker runs.",
            )

    def _error(self, error: KafkaException | KafkaError) -> LinkError:
        return clients.link_error(self._connection, f"write to topic {self._topic}", error)
