"""A reader goes on through what is over by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.reader import TopicReader
from evergrid.kafka import clients, topics
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import NewTopicSpec
from evergrid.testing.changelog_tables import wait_for

LIMIT = 60.0
TOPIC = "letters"
# Of a client whose token had expired when the broker looked at it: librdkafka logs in again with
# a new one, and gives what it was asked meanwhile this answer.
REFUSED = KafkaError(
    KafkaError._AUTHENTICATION, "FindCoordinator response error: Local: Authentication failure"
)


class Answer:
    """A message that is none, as the client hands over what went wrong."""

    def error(self) -> KafkaError:
        return REFUSED

    def topic(self) -> None:
        return None


class Refused(Consumer):
    """A client that is refused once. When a real one is, is a matter of milliseconds."""

    asked = 0

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Message]:
        self.asked += 1
        if self.asked == 1:
            return [Answer()]  # type: ignore[list-item]
        return super().consume(num_messages, timeout)


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path) as running:
        topics.create(running.connection(), [NewTopicSpec(TOPIC, 1)])
        sender = Sender(running.connection())
        sender.send(TOPIC, b"one")
        sender.flush()
        monkeypatch.setattr(clients, "Consumer", Refused)
        yield running


def test_a_login_that_is_refused_once_stops_no_reader(broker: EmbeddedBroker) -> None:
    reader = TopicReader(broker.connection(), {TOPIC: {0: 0}})
    assert reader.read() == [], "this is the one that is refused"
    read = wait_for(reader.read, bool, LIMIT)
    reader.close()
    assert [record.value for record in read] == [b"one"]
