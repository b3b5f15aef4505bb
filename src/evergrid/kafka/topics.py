"""Topic administration: describe, create and delete topics, and find their offsets.

Every function has a time limit and fails with a LinkError that names topic and connection.
Creating a topic that exists and deleting one that does not are no errors, so that a step that was
killed halfway can be repeated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import TypeVar

import msgspec
from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, not in __all__
    ListOffsetsResultInfo,
    NewTopic,
    OffsetSpec,
    TopicDescription,
)

from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.kafka.client_renewal import ClientRenewal
from evergrid.kafka.diagnosis import AccessError, Step
from evergrid.kafka.identity import identity, where
from evergrid.kafka.last_error import LastError
from evergrid.model.errors import LinkError
from evergrid.model.source import Start, StartTime, TopicEnd

Place = tuple[str, int]  # a topic and a partition

_REQUEST_SECONDS = 20.0
_SETTLE_SECONDS = 20.0  # until every broker knows that a topic was created or deleted
_POLL_SECONDS = 0.05
_Answer = TypeVar("_Answer")
_EARLIEST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
_MOVING = (  # a broker that has just started, or a partition between two leaders
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError._NOENT,  # the client's own word for a partition without a leader
)
_NONE = -1  # the offset of "no message at or after that time"


class MissingTopic(LinkError):
    """A topic that was asked about does not exist."""


class TopicInfo(msgspec.Struct, frozen=True):
    """`topic_id` tells a topic from a later one of the same name."""

    name: str
    topic_id: str
    partitions: int


class Edges(msgspec.Struct, frozen=True):
    """The oldest offset of each topic and partition, and the one that comes next."""

    first: Mapping[Place, int]
    end: Mapping[Place, int]


class NewTopicSpec(msgspec.Struct, frozen=True):
    """A topic to make; replication -1 is the broker's default."""

    name: str
    partitions: int
    replication: int = -1
    config: Mapping[str, str] = {}


def new_topic(spec: NewTopicSpec) -> NewTopic:
    """The specification as the Python client takes it."""
    return NewTopic(
        spec.name,
        num_partitions=spec.partitions,
        replication_factor=spec.replication,
        config=dict(spec.config),
    )


def describe(connection: Connection, names: Iterable[str]) -> dict[str, TopicInfo]:
    """The topics of `names` that exist."""
    return _TopicAdmin(connection).describe(sorted(set(names)))


def partitions(connection: Connection) -> dict[str, int]:
    """Every topic that this user may see, with its number of partitions."""
    admin = _TopicAdmin(connection)
    try:
        metadata = admin.client.list_topics(timeout=_REQUEST_SECONDS)
    except KafkaException as error:
        raise admin.link_error("list the topics", error.args[0]) from None
    return {
        name: len(topic.partitions) for name, topic in metadata.topics.items() if not topic.error
    }


def create(connection: Connection, topics: Iterable[NewTopicSpec]) -> None:
    """Make topics and return when they can be used; one that exists stays as it is."""
    wanted = {spec.name: spec for spec in topics}
    if not wanted:
        return
    admin = _TopicAdmin(connection)
    new = [new_topic(spec) for spec in wanted.values()]
    answers = admin.client.create_topics(
        new, operation_timeout=_REQUEST_SECONDS, request_timeout=_REQUEST_SECONDS
    )
    for name, answer in answers.items():
        admin.result(answer, f"create topic {name}", accept=KafkaError.TOPIC_ALREADY_EXISTS)
    admin.wait_until(
        lambda: admin.describe(sorted(wanted)).keys() == wanted.keys(),
        f"see the new topics {', '.join(sorted(wanted))}",
    )


def delete(connection: Connection, names: Iterable[str]) -> None:
    """Delete topics and return when they are gone; one that does not exist is gone already."""
    unwanted = sorted(set(names))
    if not unwanted:
        return
    admin = _TopicAdmin(connection)
    answers = admin.client.delete_topics(
        unwanted, operation_timeout=_REQUEST_SECONDS, request_timeout=_REQUEST_SECONDS
    )
    for name, answer in answers.items():
        admin.result(answer, f"delete topic {name}", accept=KafkaError.UNKNOWN_TOPIC_OR_PART)
    admin.wait_until(
        lambda: not admin.describe(unwanted),
        f"see that the topics {', '.join(unwanted)} are gone",
    )


def offsets(connection: Connection, topic: str, at: Start) -> dict[int, int]:
    """Partition → its first offset, its end, or its first offset at or after a time.

    Where no message is that late it is the end: as it was before the question about the
    time, so that a message which arrives between the two questions is not skipped.
    """
    admin = _TopicAdmin(connection)
    (info,) = admin.existing([topic])
    if at is TopicEnd.EARLIEST:
        return admin.offsets(info, _EARLIEST)
    ends = admin.offsets(info, _LATEST)
    if not isinstance(at, StartTime):
        return ends
    # Kafka counts in milliseconds: rounding down would let in a message before the time.
    found = admin.offsets(info, OffsetSpec.for_timestamp(math.ceil(at.time.timestamp() * 1000)))
    return {part: ends[part] if offset == _NONE else offset for part, offset in found.items()}


class TopicWatch:
    """Asks about topics again and again, with one client and one login while there is no error."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._renewal = ClientRenewal(connection)
        self._admin: _TopicAdmin | None = None

    def describe(self, names: Iterable[str]) -> dict[str, TopicInfo]:
        """The topics of `names` that exist."""
        return self._ask(lambda admin: admin.describe(sorted(set(names))))

    def edges(self, names: Iterable[str]) -> Edges:
        """Where these topics begin and end now."""
        return self._ask(lambda admin: Edges(*admin.places(names, _EARLIEST, _LATEST)))

    def ends(self, names: Iterable[str]) -> Mapping[Place, int]:
        """Where they end now."""
        return self._ask(lambda admin: admin.places(names, _LATEST)[0])

    def _ask(self, question: Callable[[_TopicAdmin], _Answer]) -> _Answer:
        fresh = self._renewal.renew(self._new)
        admin, self._admin = fresh or self._admin, None
        if admin is not None:
            try:
                return self._answered(admin, question)
            except AccessError as error:
                # The token may have expired meanwhile: a new client begins with a new token.
                has_token = identity(self._connection).mechanism == "OAUTHBEARER"
                if error.step is not Step.LOGIN or not has_token:
                    raise
        return self._answered(self._new(), question)

    def _answered(self, admin: _TopicAdmin, question: Callable[[_TopicAdmin], _Answer]) -> _Answer:
        """The answer. Only then is the client kept: after an error the next call has a new one."""
        answer = question(admin)
        admin.clear_error()
        self._admin = admin
        return answer

    def _new(self) -> _TopicAdmin:
        return _TopicAdmin(self._connection)


class _Moving(LinkError):
    """A partition has no leader that answers, for a moment."""


class _TopicAdmin:
    """An admin client that knows why it cannot connect."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last_error = LastError()
        self.client = clients.admin(connection, error_cb=self._last_error)

    def result(
        self, answer: Future[_Answer], doing: str, accept: int | None = None
    ) -> _Answer | None:
        """The answer, None for the error code `accept`, or a LinkError."""
        try:
            return answer.result(timeout=_REQUEST_SECONDS + 5.0)
        except KafkaException as error:
            failure: KafkaError = error.args[0]
            if failure.code() == accept:
                return None
            told = self.link_error(doing, failure)
            if failure.code() in _MOVING:
                raise _Moving(told.what, where=told.where, remedy=told.remedy) from None
            raise told from None
        except TimeoutError:
            raise self.link_error(doing, KafkaError(clients.TIMED_OUT)) from None

    def clear_error(self) -> None:
        """Forget earlier errors: the cluster has answered."""
        self.client.poll(0)
        self._last_error.clear()

    def link_error(self, doing: str, failure: KafkaError) -> LinkError:
        self.client.poll(0)  # calls error_cb
        return clients.link_error(self._connection, doing, self._last_error.reason(failure))

    def wait_until(self, done: Callable[[], bool], doing: str) -> None:
        deadline = time.monotonic() + _SETTLE_SECONDS
        while not done():
            if time.monotonic() > deadline:
                raise self.link_error(doing, KafkaError(clients.TIMED_OUT))
            time.sleep(_POLL_SECONDS)

    def describe(self, names: Sequence[str]) -> dict[str, TopicInfo]:
        if not names:
            return {}
        answers: Mapping[str, Future[TopicDescription]] = self.client.describe_topics(
            TopicCollection(list(names)), request_timeout=_REQUEST_SECONDS
        )
        found = {}
        for name, answer in answers.items():
            described = self.result(
                answer, f"describe topic {name}", accept=KafkaError.UNKNOWN_TOPIC_OR_PART
            )
            if described is not None:
                found[name] = TopicInfo(name, str(described.topic_id), len(described.partitions))
        return found

    def existing(self, names: Sequence[str]) -> list[TopicInfo]:
        """These topics, in their order; MissingTopic when one is not there."""
        found = self.describe(names)
        for name in names:
            if name not in found:
                raise MissingTopic(
                    f"topic {name} does not exist",
                    where=where(self._connection),
                    remedy="Create the topic, or correct its name.",
                )
        return [found[name] for name in names]

    def places(self, names: Iterable[str], *specs: OffsetSpec) -> list[dict[Place, int]]:
        """For each of `specs`, the offset there of every partition of these topics."""
        infos = self.existing(sorted(set(names)))
        return [
            {
                (info.name, partition): offset
                for info in infos
                for partition, offset in self.offsets(info, spec).items()
            }
            for spec in specs
        ]

    def offsets(self, topic: TopicInfo, spec: OffsetSpec) -> dict[int, int]:
        """Asks again while partitions get their leaders, as just after a topic was made."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            try:
                return self._offsets(topic, spec)
            except _Moving:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_SECONDS)
                self.existing([topic.name])  # a deleted topic gives the same error

    def _offsets(self, topic: TopicInfo, spec: OffsetSpec) -> dict[int, int]:
        own = {**self._connection.properties, **self._connection.python}  # the same word in both
        committed = own.get("isolation.level") == "read_committed"
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        answers: Mapping[TopicPartition, Future[ListOffsetsResultInfo]] = self.client.list_offsets(
            {TopicPartition(topic.name, part): spec for part in range(topic.partitions)},
            isolation_level=level,
            request_timeout=_REQUEST_SECONDS,
        )
        found = {}
        for part, answer in answers.items():
            result = self.result(answer, f"ask for offsets of topic {topic.name}[{part.partition}]")
            assert result is not None
            found[part.partition] = result.offset
        return found
