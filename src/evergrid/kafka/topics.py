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
_LIMITS = {"operation_timeout": _REQUEST_SECONDS, "request_timeout": _REQUEST_SECONDS}
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
    """A topic to make; replication -1 is the broker's default.

    `optional` are settings that make it safer; a cluster that refuses them makes it without.
    """

    name: str
    partitions: int
    replication: int = -1
    config: Mapping[str, str] = {}
    optional: Mapping[str, str] = {}


def describe(connection: Connection, names: Iterable[str]) -> dict[str, TopicInfo]:
    """The topics of `names` that exist."""
    return _TopicAdmin(connection).describe(names)


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
    if wanted:
        admin = _TopicAdmin(connection)
        admin.create(wanted.values())
        admin.wait_until(
            lambda: admin.describe(wanted).keys() == wanted.keys(),
            f"see the new topics {', '.join(sorted(wanted))}",
        )


def check_creatable(connection: Connection, topics: Iterable[NewTopicSpec]) -> None:
    """LinkError unless these topics exist or could be created; nothing is created."""
    _TopicAdmin(connection).create(topics, validate_only=True)


def delete(connection: Connection, names: Iterable[str]) -> None:
    """Delete topics and return when they are gone; one that does not exist is gone already."""
    unwanted = sorted(set(names))
    if not unwanted:
        return
    admin = _TopicAdmin(connection)
    answers = admin.client.delete_topics(unwanted, **_LIMITS)
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
    infos = admin.existing([topic])
    found = admin.offsets(infos, _EARLIEST if at is TopicEnd.EARLIEST else _LATEST)
    if isinstance(at, StartTime):
        # Kafka counts in milliseconds: rounding down would let in a message before the time.
        time_ms = math.ceil(at.time.timestamp() * 1000)
        later = admin.offsets(infos, OffsetSpec.for_timestamp(time_ms))
        found |= {place: offset for place, offset in later.items() if offset != _NONE}
    return {partition: offset for (_, partition), offset in found.items()}


class TopicWatch:
    """Asks about topics again and again, with one client and one login while there is no error."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._renewal = ClientRenewal(connection)
        self._admin: _TopicAdmin | None = None

    def describe(self, names: Iterable[str]) -> dict[str, TopicInfo]:
        """The topics of `names` that exist."""
        return self._ask(lambda admin: admin.describe(names))

    def edges(self, names: Iterable[str]) -> Edges:
        """Where these topics begin and end now."""

        def question(admin: _TopicAdmin) -> Edges:
            infos = admin.existing(names)
            return Edges(admin.offsets(infos, _EARLIEST), admin.offsets(infos, _LATEST))

        return self._ask(question)

    def ends(self, names: Iterable[str]) -> Mapping[Place, int]:
        """Where they end now."""
        return self._ask(lambda admin: admin.offsets(admin.existing(names), _LATEST))

    def _ask(self, question: Callable[[_TopicAdmin], _Answer]) -> _Answer:
        fresh = self._renewal.renew(lambda: _TopicAdmin(self._connection))
        kept, self._admin = fresh or self._admin, None
        admin = kept or _TopicAdmin(self._connection)
        try:
            answer = question(admin)
        except AccessError as error:
            # The token may have expired meanwhile: a new client begins with a new token.
            has_token = identity(self._connection).mechanism == "OAUTHBEARER"
            if kept is None or error.step is not Step.LOGIN or not has_token:
                raise
            admin = _TopicAdmin(self._connection)
            answer = question(admin)
        admin.client.poll(0)
        admin.last_error.clear()  # the cluster has answered
        self._admin = admin  # only now: after an error the next call has a new one
        return answer


def _is_refused(answer: Future[None]) -> bool:
    """Whether a cluster does not allow a topic's settings."""
    try:
        error = answer.exception(timeout=_REQUEST_SECONDS + 5.0)
    except TimeoutError:
        return False
    refusals = (KafkaError.POLICY_VIOLATION, KafkaError.INVALID_CONFIG)
    return isinstance(error, KafkaException) and error.args[0].code() in refusals


class _Moving(LinkError):
    """A partition has no leader that answers, for a moment."""


class _TopicAdmin:
    """An admin client that knows why it cannot connect."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.last_error = LastError()
        self.client = clients.admin(connection, error_cb=self.last_error)

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

    def link_error(self, doing: str, failure: KafkaError) -> LinkError:
        self.client.poll(0)  # calls error_cb
        return clients.link_error(self._connection, doing, self.last_error.reason(failure))

    def wait_until(self, done: Callable[[], bool], doing: str) -> None:
        deadline = time.monotonic() + _SETTLE_SECONDS
        while not done():
            if time.monotonic() > deadline:
                raise self.link_error(doing, KafkaError(clients.TIMED_OUT))
            time.sleep(_POLL_SECONDS)

    def create(self, topics: Iterable[NewTopicSpec], validate_only: bool = False) -> None:
        specs = list(topics)
        answers = self._create(specs, validate_only)
        refused = [one for one in specs if one.optional and _is_refused(answers[one.name])]
        if refused:
            clients.LOG.warning(
                "%s refuses settings of Evergrid's own topics (%s): created without them",
                where(self._connection),
                ", ".join(f"{name}={value}" for name, value in refused[0].optional.items()),
            )
            plain = [msgspec.structs.replace(one, optional={}) for one in refused]
            answers |= self._create(plain, validate_only)
        for name, answer in answers.items():
            self.result(answer, f"create topic {name}", accept=KafkaError.TOPIC_ALREADY_EXISTS)

    def _create(
        self, specs: Sequence[NewTopicSpec], validate_only: bool
    ) -> dict[str, Future[None]]:
        new = [
            NewTopic(
                spec.name,
                spec.partitions,
                spec.replication,
                config={**spec.config, **spec.optional},
            )
            for spec in specs
        ]
        return self.client.create_topics(new, validate_only=validate_only, **_LIMITS)

    def describe(self, names: Iterable[str]) -> dict[str, TopicInfo]:
        if not (asked := sorted(set(names))):
            return {}
        answers: Mapping[str, Future[TopicDescription]] = self.client.describe_topics(
            TopicCollection(asked), request_timeout=_REQUEST_SECONDS
        )
        found = {}
        for name, answer in answers.items():
            described = self.result(
                answer, f"describe topic {name}", accept=KafkaError.UNKNOWN_TOPIC_OR_PART
            )
            if described is not None:
                found[name] = TopicInfo(name, str(described.topic_id), len(described.partitions))
        return found

    def existing(self, names: Iterable[str]) -> list[TopicInfo]:
        """These topics, sorted; MissingTopic when one is not there."""
        wanted = sorted(set(names))
        found = self.describe(wanted)
        for name in wanted:
            if name not in found:
                raise MissingTopic(
                    f"topic {name} does not exist",
                    where=where(self._connection),
                    remedy="Create the topic, or correct its name.",
                )
        return [found[name] for name in wanted]

    def offsets(self, topics: Sequence[TopicInfo], spec: OffsetSpec) -> dict[Place, int]:
        """The offset of every partition of these topics.

        Asks again while partitions get their leaders, as just after a topic was made.
        """
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            try:
                return self._offsets(topics, spec)
            except _Moving:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_SECONDS)
                self.existing(topic.name for topic in topics)  # a deleted one gives the same error

    def _offsets(self, topics: Sequence[TopicInfo], spec: OffsetSpec) -> dict[Place, int]:
        own = {**self._connection.properties, **self._connection.python}  # the same word in both
        committed = own.get("isolation.level") == "read_committed"
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        places = [(topic.name, part) for topic in topics for part in range(topic.partitions)]
        if not places:
            return {}
        answers: Mapping[TopicPartition, Future[ListOffsetsResultInfo]] = self.client.list_offsets(
            {TopicPartition(*place): spec for place in places},
            isolation_level=level,
            request_timeout=_REQUEST_SECONDS,
        )
        found = {}
        for at, answer in answers.items():
            result = self.result(answer, f"ask for offsets of topic {at.topic}[{at.partition}]")
            assert result is not None
            found[at.topic, at.partition] = result.offset
        return found
