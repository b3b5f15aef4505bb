"""Sample events go on through a broker that is killed."""

from __future__ import annotations

from pathlib import Path

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.config.settings import Connection
from evergrid.demo.sample_events import ACCOUNTS, USERS
from evergrid.demo.sample_producer import SampleProducer
from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import LinkError
from evergrid.model.source import TopicEnd
from evergrid.testing.changelog_tables import wait_for

LIMIT = 120.0


def messages(connection: Connection) -> int:
    try:
        return sum(
            sum(topics.offsets(connection, topic, TopicEnd.LATEST).values()) for topic in ("u", "a")
        )
    except LinkError:  # a leader that is not ready yet
        return 0


def test_events_come_and_come_again_after_a_kill(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        connection = broker.connection()
        topics.create(connection, [NewTopicSpec("u", 2), NewTopicSpec("a", 2)])
        producer = SampleProducer(connection, {USERS: "u", ACCOUNTS: "a"}, rate=200, seed=1)
        producer.start()
        wait_for(lambda: messages(connection), lambda count: count > 100, LIMIT)
        broker.kill()
        sent = producer.sent
        wait_for(lambda: producer.sent, lambda count: count > sent + 100, LIMIT)
        broker.start()
        wait_for(lambda: messages(connection), lambda count: count > sent + 100, LIMIT)
        producer.stop()
        assert producer.sent > 0
