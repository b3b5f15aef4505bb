"""Control messages over HTTP with a real Kafka, one that is away and one that is deaf."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from evergrid.changelog.control import BY_HEADER
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka import clients, topics
from evergrid.kafka.broker import EmbeddedBroker
from evergrid.model.source import Edge
from evergrid.protocol.codes import Code
from tests.gateway.caller import Answer, calling, wait_until
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

LIMIT = 60.0
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
    ends = topics.offsets(connection, OFFERED.topic, Edge.LATEST)
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
        first = post(gateway, MESSAGE)
        assert json.loads(first.body) == {"sent": {"partition": 0, "offset": 0}}
        broker.kill()
        began = time.monotonic()
        answer = post(gateway, b'{"joinType": "inner"}')
        assert time.monotonic() - began < ANSWER_SECONDS
        assert refused(answer) == expected(Code.NOT_SENT)
        assert answer.headers["retry-after"] == "1"
        problem = json.loads(answer.body)["error"]
        assert problem["retry"] is True
        assert f"Kafka connection control ({broker.bootstrap})" in problem["message"]
        broker.start()
        wait_until(lambda: post(gateway, b'{"joinType":"left"}').status == 202, "Kafka")
        by = [(BY_HEADER, b"key ops")]
        assert on_topic(broker) == [(MESSAGE, by), (b'{"joinType":"left"}', by)]
        assert audited(gateway)[0].endswith(": sent to evergrid-control as 0:0.")
        assert "not_sent: " in audited(gateway)[1]


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
            assert not answers
            with heard, calling(gateway) as caller:
                began = time.monotonic()
                assert caller.ask("/livez").status == 200
                assert time.monotonic() - began < 2.0
            for thread in asking:
                thread.join(LIMIT)
            assert [refused(answer) for answer in answers] == [expected(Code.NOT_SENT)] * BURST
            assert len(gateway.said) == BURST
