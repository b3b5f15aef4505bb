"""The control topic is followed from its first message on, whatever becomes of it meanwhile."""

from __future__ import annotations

import time

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.control_message import BY_HEADER
from evergrid.changelog.manifest import RequestedChanges
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.orchestrator.control_reader import ControlMessage, ControlReader, in_order

LIMIT = 120.0
TOPIC = "evergrid-control"


@pytest.fixture
def settings(broker: EmbeddedBroker) -> Settings:
    return load(None, {"EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap})


def send(settings: Settings, *values: bytes) -> None:
    sender = Sender(settings.kafka.control)
    for value in values:
        sender.send(TOPIC, value, headers={BY_HEADER: "a test"})
    sender.flush()


def hear(reader: ControlReader, count: int) -> list[ControlMessage]:
    """So many messages, as they come."""
    heard: list[ControlMessage] = []
    deadline = time.monotonic() + LIMIT
    while len(heard) < count:
        assert time.monotonic() < deadline, heard
        heard += reader.read(RequestedChanges())
    return heard


def test_it_is_made_read_from_where_it_was_left_and_read_again_when_made_anew(
    settings: Settings, broker: EmbeddedBroker
) -> None:
    said: list[str] = []
    reader = ControlReader(settings, said.append)
    assert reader.open(RequestedChanges()) == []
    assert topics.partitions(settings.kafka.control)[TOPIC] == 1
    send(settings, b"first", b"second")
    heard = hear(reader, 2)
    assert [(one.row_id, one.value, one.by) for one in heard] == [
        ("0:0", b"first", "a test"),
        ("0:1", b"second", "a test"),
    ]
    before = reader.topic_id
    reader.close()

    again = ControlReader(settings, said.append)
    past = again.open(RequestedChanges(before, {0: 1}))
    assert [one.value for one in past] == [b"second"], "the first was acted on"

    broker.kill()
    broker.start()
    send(settings, b"third")
    assert [one.value for one in hear(again, 1)] == [b"third"]

    topics.delete(settings.kafka.control, [TOPIC])
    deadline = time.monotonic() + LIMIT
    while again.topic_id == before:  # it is made anew, and followed
        assert time.monotonic() < deadline
        assert again.read(RequestedChanges(before, {0: 3})) == []
        time.sleep(0.1)
    send(settings, b"fourth")
    assert [(one.row_id, one.value) for one in hear(again, 1)] == [("0:0", b"fourth")]
    again.close()


def test_clocks_that_differ_do_not_change_the_order_of_a_partition() -> None:
    def message(partition: int, offset: int, ts: int) -> ControlMessage:
        return ControlMessage(partition, offset, ts, b"", "")

    mixed = [message(1, 0, 15), message(0, 0, 20), message(1, 1, 30), message(0, 1, 10)]
    assert [one.row_id for one in in_order(mixed)] == ["1:0", "0:0", "0:1", "1:1"]


def test_one_that_cannot_be_read_is_said_once_and_followed_when_it_can(
    settings: Settings, broker: EmbeddedBroker
) -> None:
    said: list[str] = []
    broker.kill()
    reader = ControlReader(settings, said.append)
    assert reader.open(RequestedChanges()) == []
    assert len(said) == 1
    assert "Until then nothing can be changed by messages." in said[0]
    broker.start()
    send(settings, b"after")
    assert hear(reader, 1)[-1].value is not None
    assert said[1:] == [f"Topic {TOPIC} can be read again."]
    reader.close()
