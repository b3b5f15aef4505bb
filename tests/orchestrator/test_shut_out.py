"""The control topic on a secured broker: passwords that are rotated, and one that is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests.support.broker_changes import set_password

from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.rights import Operation, ResourceKind, Right, grant
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.changelog.manifest import RequestedChanges
from evergrid.config import Settings, load
from evergrid.config.sasl import Mechanism
from evergrid.kafka.client_renewal import CHECK_SECONDS
from evergrid.kafka.message_sender import Sender
from evergrid.orchestrator.control_reader import ControlMessage, ControlReader
from evergrid.process.private_directory import write_secret

LIMIT = 120.0
TOPIC = "evergrid-control"
ANNA = "anna"
SCRAM = Listener(Protocol.SASL_SSL, Mechanism.SCRAM_SHA_512)
RIGHTS = (
    Right(TOPIC, (Operation.READ, Operation.DESCRIBE, Operation.CREATE)),
    Right("evergrid", (Operation.DESCRIBE,), kind=ResourceKind.GROUP),
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with SecuredBroker(tmp_path_factory.mktemp("house"), [SCRAM], (ANNA,)) as running:
        grant(running.administration(), SCRAM.principal(ANNA), RIGHTS)
        yield running


@pytest.fixture
def settings(house: SecuredBroker, tmp_path: Path) -> Settings:
    file = tmp_path / "evergrid.yaml"
    file.write_text(yaml.safe_dump({"kafka": house.section(SCRAM, ANNA)}))
    return load(file, {})


class Ear:
    """Everything that a reader heard and said."""

    def __init__(self, settings: Settings) -> None:
        self.said: list[str] = []
        self.heard: list[bytes | None] = []
        self.reader = ControlReader(settings, self.said.append)
        self._take(self.reader.open(RequestedChanges()))

    def until(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT
        while not done():
            assert time.monotonic() < deadline, (self.heard, self.said)
            self.listen()

    def during(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.listen()
        self.listen()  # a pause may have taken all of that time

    def listen(self) -> None:
        self._take(self.reader.read(RequestedChanges(self.reader.topic_id, {0: len(self.heard)})))
        time.sleep(0.1)

    def _take(self, messages: list[ControlMessage]) -> None:
        self.heard += [message.value for message in messages]


def test_a_rotated_password_is_taken_without_a_word_and_a_wrong_one_is_said(
    house: SecuredBroker, settings: Settings
) -> None:
    as_it_starts = house.accounts[ANNA].password  # the broker gives it this one at each start
    set_password(house, ANNA)
    ear = Ear(settings)
    sender = Sender(house.administration())

    def send(value: bytes) -> None:
        sender.send(TOPIC, value)
        sender.flush()

    send(b"first")
    ear.until(lambda: ear.heard == [b"first"])

    set_password(house, ANNA, as_it_starts)
    ear.during(3 * CHECK_SECONDS)
    restart(house)  # so that everybody has to log in again
    send(b"second")
    ear.until(lambda: ear.heard == [b"first", b"second"])
    assert ear.said == []

    password = house.directory / f"{ANNA}.password"
    write_secret(password, "not-the-right-one")
    ear.during(3 * CHECK_SECONDS)
    restart(house)
    ear.until(lambda: bool(ear.said))
    send(b"third")
    assert len(ear.said) == 1
    assert f"authentication failed for user {ANNA}" in ear.said[0]
    assert "Until then nothing can be changed by messages." in ear.said[0]

    write_secret(password, as_it_starts)
    ear.until(lambda: ear.heard == [b"first", b"second", b"third"])
    assert ear.said[1:] == [f"Topic {TOPIC} can be read again."]
    ear.reader.close()


def restart(house: SecuredBroker) -> None:
    house.broker.kill()
    house.broker.start()
