"""The rights that the documentation lists are enough for each part, and each of them is needed.

That they are enough for Spark too is shown by the tests of the whole.
"""

from __future__ import annotations

import itertools
import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.support.broker_changes import revoke

from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.rights import (
    Operation,
    RequiredRights,
    ResourceKind,
    Right,
    grant,
    producer_rights,
)
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.changelog.control_topic import ControlTopic
from evergrid.changelog.internal_topics import owner_id
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.reader import TopicReader, load_manifest, read_to_end
from evergrid.changelog.writer import FencedWriter
from evergrid.config import load
from evergrid.config.sasl import Mechanism
from evergrid.config.settings import Connection
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import LinkError
from evergrid.model.source import TopicEnd

PAGE = Path(__file__).parents[2] / "docs" / "kafka.md"
LISTENER = Listener(Protocol.SASL_SSL, Mechanism.SCRAM_SHA_256)
NEEDS = RequiredRights(("users", "accounts"), "evergrid", "evergrid-control")
TABLE = "evergrid.g1.users_ui"
LIMIT = 60.0
NUMBERS = itertools.count()
Act = Callable[[Connection], None]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    names = ("pipeline", "gateway", "sender")
    with SecuredBroker(tmp_path_factory.mktemp("rights"), [LISTENER], names) as running:
        all_rights = running.administration()
        topics.create(all_rights, [NewTopicSpec(name, 1) for name in (*NEEDS.sources, "other")])
        grant(all_rights, "User:pipeline", NEEDS.pipeline())
        grant(all_rights, "User:gateway", NEEDS.gateway())
        grant(all_rights, "User:sender", producer_rights(NEEDS.sources))
        send("users")(running.connection(LISTENER, "sender"))
        create("evergrid-control")(running.connection(LISTENER, "pipeline"))
        create(TABLE)(running.connection(LISTENER, "pipeline"))
        send(TABLE)(running.connection(LISTENER, "pipeline"))
        send("evergrid-control")(running.connection(LISTENER, "gateway"))
        yield running


def create(name: str) -> Act:
    return lambda connection: topics.create(connection, [NewTopicSpec(name, 1)])


def create_another(prefix: str) -> Act:
    """One that was not there before, for one that exists needs no right to be made."""
    return lambda connection: create(f"{prefix}{next(NUMBERS)}")(connection)


def delete(name: str) -> Act:
    return lambda connection: topics.delete(connection, [name])


def send(topic: str) -> Act:
    def act(connection: Connection) -> None:
        sender = Sender(connection)
        sender.send(topic, b"{}", b"key")
        sender.flush(LIMIT)

    return act


def read(topic: str) -> Act:
    def act(connection: Connection) -> None:
        topics.offsets(connection, topic, TopicEnd.EARLIEST)
        for _ in read_to_end(connection, topic):
            pass

    return act


def make_and_delete(connection: Connection) -> None:
    name = f"evergrid.g{next(NUMBERS)}.users_ui"
    create(name)(connection)
    send(name)(connection)
    read(name)(connection)
    delete(name)(connection)


def own(connection: Connection) -> None:
    FencedWriter(connection, owner_id("evergrid"), lambda: None).write(TABLE, (b"key", b"{}"))


def look_for_tables(connection: Connection) -> None:
    load_manifest(connection, "evergrid")


def ask(connection: Connection) -> None:
    settings = load(None, {})
    kafka = msgspec.structs.replace(settings.kafka, control=connection)
    topic = ControlTopic(msgspec.structs.replace(settings, kafka=kafka))
    topic.send(b"{}", "key tests", Manifest())


PIPELINE: dict[str, Act] = {
    "read a source": read("users"),
    "follow the control topic": read("evergrid-control"),
    "make the control topic": create("evergrid-control"),
    "make, write, read and delete its own": make_and_delete,
    "write as the owner": own,
}
GATEWAY: dict[str, Act] = {
    "see which tables there are": look_for_tables,
    "read a table": read(TABLE),
    "pass a control message on": ask,
}
NOT_PIPELINE: dict[str, Act] = {
    "write to a source": send("users"),
    "delete a source": delete("users"),
    "write control messages": send("evergrid-control"),
    "make another's topic": create_another("evergridlike"),
    "read another's topic": read("other"),
}
NOT_GATEWAY: dict[str, Act] = {
    "write to a table": send(TABLE),
    "take over from a pipeline": own,
    "make a table": create_another("evergrid.new"),
    "delete a table": delete(TABLE),
    "read a source": read("users"),
    "read control messages": read("evergrid-control"),
}


@pytest.mark.parametrize("doing", PIPELINE)
def test_the_pipeline_can(house: SecuredBroker, doing: str) -> None:
    PIPELINE[doing](house.connection(LISTENER, "pipeline"))


@pytest.mark.parametrize("doing", GATEWAY)
def test_the_gateway_can(house: SecuredBroker, doing: str) -> None:
    GATEWAY[doing](house.connection(LISTENER, "gateway"))


@pytest.mark.parametrize("doing", NOT_PIPELINE)
def test_the_pipeline_cannot(house: SecuredBroker, doing: str) -> None:
    with pytest.raises(LinkError):
        NOT_PIPELINE[doing](house.connection(LISTENER, "pipeline"))


@pytest.mark.parametrize("doing", NOT_GATEWAY)
def test_the_gateway_cannot(house: SecuredBroker, doing: str) -> None:
    with pytest.raises(LinkError):
        NOT_GATEWAY[doing](house.connection(LISTENER, "gateway"))


@pytest.mark.parametrize(
    ("who", "right", "doing"),
    [
        ("pipeline", Right("users", (Operation.READ,)), read("users")),
        ("pipeline", Right("evergrid-control", (Operation.READ,)), read("evergrid-control")),
        *(
            ("pipeline", Right("evergrid.", (operation,), prefixed=True), make_and_delete)
            for operation in (Operation.READ, Operation.WRITE, Operation.CREATE, Operation.DELETE)
        ),
        ("gateway", Right("evergrid.", (Operation.READ,), prefixed=True), read(TABLE)),
        ("gateway", Right("evergrid-control", (Operation.WRITE,)), ask),
    ],
    ids=lambda given: given.operations[0].value if isinstance(given, Right) else "",
)
def test_without_one_of_them_it_does_not_work(
    house: SecuredBroker, who: str, right: Right, doing: Act
) -> None:
    doing(house.connection(LISTENER, who))
    revoke(house.administration(), f"User:{who}", [right])
    try:
        with pytest.raises(LinkError):
            doing(house.connection(LISTENER, who))
    finally:
        grant(house.administration(), f"User:{who}", [right])
    doing(house.connection(LISTENER, who))


def test_without_the_transactional_id_a_pipeline_is_told_what_it_lacks(
    house: SecuredBroker,
) -> None:
    kind = ResourceKind.TRANSACTIONAL_ID
    right = Right("evergrid.", (Operation.WRITE,), prefixed=True, kind=kind)
    revoke(house.administration(), "User:pipeline", [right])
    try:
        with pytest.raises(LinkError, match="user pipeline on its transactional id"):
            own(house.connection(LISTENER, "pipeline"))
    finally:
        grant(house.administration(), "User:pipeline", [right])
    own(house.connection(LISTENER, "pipeline"))


def test_without_the_group_a_reader_stops(house: SecuredBroker) -> None:
    """Perhaps not at once: it reads while it looks for the coordinator of its group."""
    group = Right("evergrid", (Operation.DESCRIBE,), kind=ResourceKind.GROUP)
    revoke(house.administration(), "User:gateway", [group])
    reader = TopicReader(house.connection(LISTENER, "gateway"), {TABLE: {0: 0}})

    def follow() -> None:
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            reader.read()

    try:
        with pytest.raises(
            LinkError, match="authorization failed for user gateway on its consumer group"
        ):
            follow()
    finally:
        grant(house.administration(), "User:gateway", [group])
        reader.close()


def test_one_user_may_have_them_all() -> None:
    whole = {(right.name, right.prefixed, right.kind): right.operations for right in NEEDS.whole()}
    assert len(whole) == len(NEEDS.whole())
    for right in (*NEEDS.pipeline(), *NEEDS.gateway()):
        assert set(right.operations) <= set(whole[right.name, right.prefixed, right.kind])


@pytest.mark.parametrize("who", ["pipeline", "gateway"])
def test_the_documentation_lists_them(who: str) -> None:
    rights = NEEDS.pipeline() if who == "pipeline" else NEEDS.gateway()
    page = " ".join(PAGE.read_text().replace("\\\n", " ").split())
    for command in commands(f"User:evergrid-{who}", rights):
        assert command in page


def commands(principal: str, rights: Iterable[Right]) -> Iterator[str]:
    """The commands of Kafka's own tool that grant these rights."""
    for right in rights:
        asked = ["--add", "--allow-principal", principal]
        for operation in right.operations:
            asked += ["--operation", operation.name.capitalize()]
        asked += [f"--{right.kind.name.lower().replace('_', '-')}", right.name]
        asked += ["--resource-pattern-type", "prefixed"] if right.prefixed else []
        tool = "kafka-acls --bootstrap-server $BROKER --command-config admin.properties"
        yield f"{tool} {shlex.join(asked)}"
