"""The rights that Evergrid needs on a cluster with ACLs.

The embedded broker grants the rights that the documentation lists, so the tests prove that they are
enough.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, not in __all__
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from evergrid.config.settings import Connection
from evergrid.kafka import clients

_REQUEST_SECONDS = 20.0
_ANY_HOST = "*"


# The Python client's own, for those who may not import it.
Operation = AclOperation
ResourceKind = ResourceType


class Right(msgspec.Struct, frozen=True):
    """Operations on what has that name (a topic, unless `kind` is another), or on all whose names
    begin with it."""

    name: str
    operations: tuple[Operation, ...]
    prefixed: bool = False
    kind: ResourceKind = ResourceKind.TOPIC


# Nothing is committed to a group: Evergrid keeps its own positions. But a consumer of librdkafka
# asks for the coordinator of its group all the same, and stops when that is refused.
_GROUP = Right("evergrid", (Operation.DESCRIBE,), kind=ResourceKind.GROUP)


class RequiredRights(msgspec.Struct, frozen=True):
    """The rights of one installation, for its sources, its control topic and its own topics."""

    sources: tuple[str, ...]
    prefix: str
    control: str = "evergrid-control"

    def pipeline(self) -> tuple[Right, ...]:
        """Read the sources and the control topic; create, use and delete our own topics;
        keep others from writing to them."""
        op = Operation
        return (
            *(Right(topic, (op.READ, op.DESCRIBE)) for topic in self.sources),
            Right(self.control, (op.READ, op.DESCRIBE, op.CREATE)),
            Right(
                f"{self.prefix}.",
                (op.READ, op.WRITE, op.CREATE, op.DELETE, op.DESCRIBE),
                prefixed=True,
            ),
            Right(
                f"{self.prefix}.",
                (op.WRITE, op.DESCRIBE),
                prefixed=True,
                kind=ResourceKind.TRANSACTIONAL_ID,
            ),
            _GROUP,
        )

    def gateway(self) -> tuple[Right, ...]:
        """Read our own topics; write control messages for keys that may send them."""
        op = Operation
        return (
            Right(f"{self.prefix}.", (op.READ, op.DESCRIBE), prefixed=True),
            Right(self.control, (op.WRITE, op.DESCRIBE)),
            _GROUP,
        )

    def whole(self) -> tuple[Right, ...]:
        """Both, for one user that runs everything."""
        found: dict[tuple[str, bool, ResourceKind], dict[Operation, None]] = {}
        for right in (*self.pipeline(), *self.gateway()):
            operations = found.setdefault((right.name, right.prefixed, right.kind), {})
            operations |= dict.fromkeys(right.operations)
        return tuple(
            Right(name, tuple(operations), prefixed, kind)
            for (name, prefixed, kind), operations in found.items()
        )


def producer_rights(topics: Iterable[str]) -> tuple[Right, ...]:
    """The rights of a producer for these topics."""
    return tuple(Right(topic, (Operation.WRITE, Operation.DESCRIBE)) for topic in topics)


def grant(administration: Connection, principal: str, rights: Iterable[Right]) -> None:
    """Grant these rights; others stay as they are."""
    admin = clients.admin(administration)  # kept: without it the answers never come
    answers = admin.create_acls(acls(principal, rights), request_timeout=_REQUEST_SECONDS)
    clients.wait_for(answers, administration, f"grant rights to {principal}")


def acls(principal: str, rights: Iterable[Right]) -> list[AclBinding]:
    """The ACLs that grant these rights."""
    return [
        AclBinding(
            right.kind,
            right.name,
            ResourcePatternType.PREFIXED if right.prefixed else ResourcePatternType.LITERAL,
            principal,
            _ANY_HOST,
            operation,
            AclPermissionType.ALLOW,
        )
        for right in rights
        for operation in right.operations
    ]
