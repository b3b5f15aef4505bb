"""Reads Evergrid's own topics in batches, without an end or up to their current end."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.manifest import Manifest, apply
from evergrid.config.settings import Connection
from evergrid.kafka import clients, topics
from evergrid.kafka.diagnosis import AccessError, Step, diagnose
from evergrid.kafka.last_error import ACCESS_DENIED, LastError, is_login_aborted
from evergrid.model.errors import LinkError
from evergrid.model.source import TopicEnd

_READ: Mapping[str, clients.Value] = {
    "auto.offset.reset": "error",  # `_reposition` tells what was lost
    "enable.partition.eof": True,
}
# A fetch that finds nothing reports the end of a topic: after a transaction's last record, too.
_AT_ONCE: Mapping[str, clients.Value] = {"fetch.wait.max.ms": 20}
_BATCH = 10_000
_POLL_SECONDS = 0.2
_CATCH_UP_SECONDS = 60.0
_ANSWER_SECONDS = 5.0  # with the time that the client waits before it connects again


class Record(msgspec.Struct, frozen=True):
    """One message of an internal topic; with its headers if the reader has `headers`."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes] = {}


class Loss(msgspec.Struct, frozen=True):
    """Records that a reader cannot read any more, at most `records` of them.

    `truncated`: the end of the log was lost, after an unclean election or because the topic was
    made anew, so what was read before may not exist any more. Otherwise Kafka deleted records
    before they were read, `at` being the offset of the first.
    """

    topic: str
    at: int
    records: int
    truncated: bool


class TopicReader:
    """Reads topics from given offsets, and knows its position in each partition.

    With `at_once` it learns of a topic's end without a wait, by more requests.
    """

    def __init__(
        self,
        connection: Connection,
        starts: Mapping[str, Mapping[int, int]],
        *,
        headers: bool = False,
        at_once: bool = False,
    ) -> None:
        self._connection = connection
        self._headers = headers
        # The end of a partition is reported even if its last messages were compacted away.
        self._last_error = LastError()
        settings = {**_READ, **(_AT_ONCE if at_once else {})}
        self._consumer: Consumer = clients.consumer(
            connection, error_cb=self._last_error, **settings
        )
        self._next = {
            (topic, partition): offset
            for topic, offsets in starts.items()
            for partition, offset in offsets.items()
        }
        self._losses: list[Loss] = []
        self._assign()

    def read(self, seconds: float = _POLL_SECONDS) -> list[Record]:
        """New records, at most a batch, waiting at most `seconds` for the first.

        LinkError if reading fails, or if authentication or authorization fails.
        """
        records, lost = [], []
        # librdkafka would wait for a full batch, so wait for one message and then take the rest.
        first = self._consumer.consume(1, timeout=seconds)
        for message in first + (self._consumer.consume(_BATCH, timeout=0) if first else []):
            error = message.error()
            if error is None:
                record = _record(message, self._headers)
                self._next[record.topic, record.partition] = record.offset + 1
                records.append(record)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._at_end(message)
            elif error.code() in _OUT_OF_RANGE:
                lost.append((str(message.topic()), int(message.partition() or 0)))
            elif error.code() in ACCESS_DENIED:
                self._last_error.add_consequence(error)
            elif not error.retriable() and error.code() not in _PASSING:
                topic = message.topic()
                raise clients.link_error(
                    self._connection, f"read topic {topic}" if topic else "read", error
                )
        if lost:
            self._reposition(lost)
        elif not records:
            self._listen()
        return records

    def take_losses(self) -> list[Loss]:
        """What could not be read any more, since the last call."""
        taken, self._losses = self._losses, []
        return taken

    def reached(self, topic: str, ends: Mapping[int, int]) -> bool:
        """Whether everything before `ends` has been read."""
        return all(self._next.get((topic, partition), 0) >= end for partition, end in ends.items())

    def positions(self) -> Mapping[tuple[str, int], int]:
        """The next offset of each topic and partition."""
        return self._next

    def close(self) -> None:
        self._consumer.close()

    def _listen(self) -> None:
        """Raise a reported authentication error if no broker answers.

        A client whose authentication fails retries for ever and gives no message. The reported
        error may be that of one broker of many, or of a token that is not needed yet: so it counts
        only if no broker answers. For brokers that are down the reader waits.
        """
        reported = self._last_error.error
        if reported is None:
            return
        self._last_error.clear()
        if (
            reported.code() not in ACCESS_DENIED
            and diagnose(self._connection, reported.str()) is None
        ):
            return
        topic = next(topic for topic, _ in self._next)
        # A login that was interrupted gives no reason, and the next one may succeed.
        chances = 2 if is_login_aborted(reported.str()) else 1
        if any(self._is_answered(topic) for _ in range(chances)):
            return
        error = clients.link_error(self._connection, f"read topic {topic}", reported)
        if not (isinstance(error, AccessError) and error.step is Step.HOST):
            raise error

    def _is_answered(self, topic: str) -> bool:
        try:
            self._consumer.list_topics(topic, timeout=_ANSWER_SECONDS)
        except KafkaException:
            return False
        return True

    def _reposition(self, lost: Iterable[tuple[str, int]]) -> None:
        """Continue at the first offset that there is. Retention, compaction or an administrator may
        delete the beginning while it is read."""
        for topic, partition in lost:
            place = TopicPartition(topic, partition)
            try:
                first, end = self._consumer.get_watermark_offsets(place, timeout=_ANSWER_SECONDS)
            except KafkaException as error:
                raise clients.link_error(
                    self._connection, f"ask for offsets of topic {topic}", error.args[0]
                ) from None
            at = self._next[topic, partition]
            is_truncated = at >= first
            records = max(1, at - end) if is_truncated else first - at
            self._losses.append(Loss(topic, at, records, is_truncated))
            self._next[topic, partition] = first
        self._assign()

    def _assign(self) -> None:
        self._consumer.assign([TopicPartition(*place, at) for place, at in self._next.items()])

    def _at_end(self, message: Message) -> None:
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if topic is not None and partition is not None and offset is not None:
            self._next[topic, partition] = max(self._next[topic, partition], offset)


_OUT_OF_RANGE = (KafkaError._AUTO_OFFSET_RESET, KafkaError._LOG_TRUNCATION)
_PASSING = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE)


def read_to_end(connection: Connection, topic: str) -> Iterator[list[Record]]:
    """All current records of a topic, in batches."""
    ends = topics.offsets(connection, topic, TopicEnd.LATEST)
    starts = {topic: topics.offsets(connection, topic, TopicEnd.EARLIEST)}
    reader = TopicReader(connection, starts, at_once=True)
    try:
        yield from read_up_to(reader, topic, ends)
    finally:
        reader.close()


def read_up_to(reader: TopicReader, topic: str, ends: Mapping[int, int]) -> Iterator[list[Record]]:
    """The records before these ends that the reader has not read yet, in batches; LinkError after
    a minute without any."""
    deadline = time.monotonic() + _CATCH_UP_SECONDS
    while not reader.reached(topic, ends):
        batch = reader.read()
        if batch:
            deadline = time.monotonic() + _CATCH_UP_SECONDS
            yield batch
        elif time.monotonic() > deadline:
            raise LinkError(
                f"read timed out after {_CATCH_UP_SECONDS:.0f} seconds",
                where=f"topic {topic}",
                remedy="Check the broker's log, and the permission to read this topic.",
            )


def load_manifest(connection: Connection, prefix: str) -> Manifest:
    """The current manifest; empty if there is none yet."""
    topic = manifest_topic(prefix)
    if topic not in topics.describe(connection, [topic]):
        return Manifest()
    return fold(Manifest(), read_to_end(connection, topic))


def fold(manifest: Manifest, batches: Iterable[list[Record]]) -> Manifest:
    for batch in batches:
        for record in batch:
            if record.key is not None:
                manifest = apply(manifest, record.key, record.value)
    return manifest


def _record(message: Message, headers: bool) -> Record:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None:
        raise LinkError("Kafka message without topic, partition or offset")
    given = dict(message.headers() or ()) if headers else {}
    kept = {name: value for name, value in given.items() if isinstance(value, bytes)}
    return Record(
        topic, partition, offset, message.timestamp()[1], message.key(), message.value(), kept
    )
