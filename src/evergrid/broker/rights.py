"""The rights that Evergrid needs on a cluster with ACLs, and no more; and granting them.

One list for the documentation, for the embedded broker and so for the tests, which prove
that it is enough.
"""

from __future__ import annotations

import enum
import shlex
from collections.abc import Iterable

import msgspec
from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, not in __all__
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from evergrid.config.settings import Connection
from evergrid.kafka import clients

_ASK_SECONDS = 20.0
_ANY_HOST = "*"


class Kind(enum.Enum):
    """What a right is about."""

    TOPIC = "topic"
    GROUP = "group"


class Operation(enum.Enum):
    """What may be done with it; the value is the word of `kafka-acls`."""

    READ = "Read"
    WRITE = "Write"
    CREATE = "Create"
    DELETE = "Delete"
    DESCRIBE = "Describe"


class Right(msgspec.Struct, frozen=True):
    """What may be done with a topic or group of that name, or with all whose names begin so."""

    name: str
    operations: tuple[Operation, ...]
    prefixed: bool = False
    kind: Kind = Kind.TOPIC


# Nobody commits to a group: Evergrid keeps its own place. But a consumer of librdkafka asks
# for the coordinator of its group all the same, and stops when that is refused.
_GROUP = Right("evergrid", (Operation.DESCRIBE,), kind=Kind.GROUP)


class RequiredRights(msgspec.Struct, frozen=True):
    """The topics of one Evergrid: its sources, its control topic, the prefix of its own."""

    sources: tuple[str, ...]
    prefix: str
    control: str = "evergrid-control"

    def pipeline(self) -> tuple[Right, ...]:
        """Sources and the control topic are read, our own topics are made, used and deleted."""
        op = Operation
        return (
            *(Right(topic, (op.READ, op.DESCRIBE)) for topic in self.sources),
            Right(self.control, (op.READ, op.DESCRIBE, op.CREATE)),
            Right(
                f"{self.prefix}.",
                (op.READ, op.WRITE, op.CREATE, op.DELETE, op.DESCRIBE),
                prefixed=True,
            ),
            _GROUP,
        )

    def gateway(self) -> tuple[Right, ...]:
        """Our own topics are read; control messages of people who may send them are written."""
        op = Operation
        return (
            Right(f"{self.prefix}.", (op.READ, op.DESCRIBE), prefixed=True),
            Right(self.control, (op.WRITE, op.DESCRIBE)),
            _GROUP,
        )

    def whole(self) -> tuple[Right, ...]:
        """Both, for one user that everything runs as."""
        found: dict[tuple[str, bool, Kind], dict[Operation, None]] = {}
        for right in (*self.pipeline(), *self.gateway()):
            operations = found.setdefault((right.name, right.prefixed, right.kind), {})
            operations |= dict.fromkeys(right.operations)
        return tuple(
            Right(name, tuple(operations), prefixed, kind)
            for (name, prefixed, kind), operations in found.items()
        )


def producer_rights(topics: Iterable[str]) -> tuple[Right, ...]:
    """What someone needs who writes to these topics."""
    return tuple(Right(topic, (Operation.WRITE, Operation.DESCRIBE)) for topic in topics)


def grant(administration: Connection, principal: str, rights: Iterable[Right]) -> None:
    """Allow it; what was allowed before stays so."""
    admin = clients.admin(administration)
    answers = admin.create_acls(
        [binding for right in rights for binding in _bindings(principal, right)],
        request_timeout=_ASK_SECONDS,
    )
    try:
        for answer in answers.values():
            answer.result(timeout=_ASK_SECONDS)
    except KafkaException as error:
        raise clients.link_error(administration, f"grant rights to {principal}", error) from None


def revoke(administration: Connection, principal: str, rights: Iterable[Right]) -> None:
    """Allow it no longer; what was not allowed is no error."""
    admin = clients.admin(administration)
    filters = [
        AclBindingFilter(
            binding.restype,
            binding.name,
            binding.resource_pattern_type,
            binding.principal,
            binding.host,
            binding.operation,
            binding.permission_type,
        )
        for right in rights
        for binding in _bindings(principal, right)
    ]
    answers = admin.delete_acls(filters, request_timeout=_ASK_SECONDS)
    try:
        for answer in answers.values():
            answer.result(timeout=_ASK_SECONDS)
    except KafkaException as error:
        raise clients.link_error(administration, f"take rights from {principal}", error) from None


def commands(principal: str, rights: Iterable[Right]) -> tuple[str, ...]:
    """The same with Kafka's own tool, for whoever runs a cluster."""
    return tuple(_command(principal, right) for right in rights)


def _command(principal: str, right: Right) -> str:
    words = ["kafka-acls", "--bootstrap-server", "$BROKER", "--command-config", "admin.properties"]
    asked = ["--add", "--allow-principal", principal]
    for operation in right.operations:
        asked += ["--operation", operation.value]
    asked += [f"--{right.kind.value}", right.name]
    if right.prefixed:
        asked += ["--resource-pattern-type", "prefixed"]
    return f"{' '.join(words)} {shlex.join(asked)}"


def _bindings(principal: str, right: Right) -> list[AclBinding]:
    pattern = ResourcePatternType.PREFIXED if right.prefixed else ResourcePatternType.LITERAL
    return [
        AclBinding(
            ResourceType[right.kind.name],
            right.name,
            pattern,
            principal,
            _ANY_HOST,
            AclOperation[operation.name],
            AclPermissionType.ALLOW,
        )
        for operation in right.operations
    ]
