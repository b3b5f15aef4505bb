"""Control messages over HTTP with a real Kafka, one that is away and one that is deaf."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.control_message import BY_HEADER
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka import clients, topics
from evergrid.model.source import TopicEnd
from evergrid.protocol.error_codes import Code
from evergrid.testing.changelog_tables import wait_for
from tests.gateway.caller import Answer, calling
from tests.gateway.http.controlling import (
    BURST,
    MESSAGE,
    OFFERED,
    audited,
    expected,
    post,
    refused,
    served,
)
from tests.support.local_gateway import LocalGateway

LIMIT = 60.0
INNER, LEFT = b'{"joinType": "inner"}', b'{"joinType":"left"}'
ANSWER_SECONDS = 20.0  # generous: it is 15, and the machine may be busy


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def settings_for(bootstrap: str) -> Settings:
    return load(None, {"EVERGRID_KAFKA__BOOTSTRAP": bootstrap})


def on_topic(broker: EmbeddedBroker) -> list[tuple[bytes | None, object]]:
    """Each message with its headers, in order."""
    connection = broker.connection()
    ends = topics.offsets(connection, OFFERED.topic, TopicEnd.LATEST)
    assert list(ends) == [0], "messages count in their order, so there must be one partition"
    consumer = clients.consumer(connection, **{"auto.offset.reset": "earliest"})
    try:
        consumer.assign([TopicPartition(OFFERED.topic, 0, 0)])
        messages = consumer.consume(ends[0], timeout=60.0)
    finally:
        consumer.close()
    return [(message.value(), message.headers()) for message in messages]


def test_messages_are_on_the_topic_when_it_says_so_and_those_it_refused_are_not(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    with served(tmp_path, settings_for(broker.bootstrap)) as gateway:
        place = sent(gateway, MESSAGE)
        broker.kill()
        began = time.monotonic()
        answer = post(gateway, INNER)
        assert time.monotonic() - began < ANSWER_SECONDS
        assert refused(answer) == expected(Code.NOT_SENT)
        assert answer.headers["retry-after"] == "1"
        problem = json.loads(answer.body)["error"]
        assert problem["retry"] is True
        assert f"Kafka connection control ({broker.bootstrap})" in problem["message"]
        broker.start()
        sent(gateway, LEFT)
        first, second = ((value, [(BY_HEADER, b"key ops")]) for value in (MESSAGE, LEFT))
        there = on_topic(broker)
        # What was answered too late was sent again.
        assert [one for one, _ in itertools.groupby(there)] == [first, second]
        assert there[place] == first
        lines = audited(gateway)
        assert any(line.endswith(f": sent to evergrid-control as 0:{place}.") for line in lines)
        assert any(f"{INNER.decode()}: not_sent: " in line for line in lines)


def sent(gateway: LocalGateway, message: bytes) -> int:
    """Its offset, once Kafka has taken it."""
    taken = wait_for(lambda: post(gateway, message), lambda answer: answer.status == 202, LIMIT)
    place: dict[str, int] = json.loads(taken.body)["sent"]
    assert place["partition"] == 0
    return place["offset"]


def test_nobody_waits_for_a_kafka_that_does_not_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        settings = settings_for(f"127.0.0.1:{deaf.getsockname()[1]}")
        with served(tmp_path, settings) as gateway:
            answers: list[Answer] = []
            asking = [
                threading.Thread(target=lambda: answers.append(post(gateway, MESSAGE)))
                for _ in range(BURST)
            ]
            for thread in asking:
                thread.start()
            deaf.settimeout(LIMIT)
            heard, _ = deaf.accept()  # so it is being asked
            with heard:
                assert min(seconds_to_ask(gateway) for _ in range(3)) < 2.0
                assert len(answers) < BURST, "others waited all the while"
            for thread in asking:
                thread.join(LIMIT)
            assert [refused(answer) for answer in answers] == [expected(Code.NOT_SENT)] * BURST
            assert len(gateway.said) == BURST


def seconds_to_ask(gateway: LocalGateway) -> float:
    began = time.monotonic()
    with calling(gateway) as caller:
        assert caller.ask("/livez").status == 200
    return time.monotonic() - began
