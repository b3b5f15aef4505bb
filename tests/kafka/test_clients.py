from __future__ import annotations

import logging
import socket
from collections.abc import Callable

import pytest
from confluent_kafka import KafkaError, KafkaException

from evergrid.config.settings import Connection
from evergrid.kafka import clients, topics
from evergrid.kafka.clients import LogDedup
from evergrid.model.errors import ConfigError, LinkError

SECRET = Connection("source", "b:1", secrets=frozenset({"hush", "hush-hush"}))


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (KafkaError._ALL_BROKERS_DOWN, "kafka.bootstrap"),
        (KafkaError._AUTHENTICATION, "password"),
        (KafkaError._SSL, "ssl."),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "rights"),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, "Create the topic"),
    ],
)
def test_a_failure_names_connection_address_and_remedy(code: int, remedy: str) -> None:
    error = clients.link_error(SECRET, "read topic users", KafkaException(KafkaError(code)))
    assert "Kafka connection source (b:1): could not read topic users: " in str(error)
    assert remedy in error.remedy


def test_no_sentence_shows_a_secret() -> None:
    said = KafkaError(KafkaError._AUTHENTICATION, "bad password hush-hush of hush")
    assert "bad password *** of ***" in str(clients.link_error(SECRET, "log in", said))
    bad = Connection("source", "b:1", {"security.protocol": "hush"}, secrets=SECRET.secrets)
    with pytest.raises(ConfigError, match=r"security\.protocol") as caught:
        clients.producer(bad)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("make", [clients.producer, clients.consumer, clients.admin])
def test_a_value_that_the_client_refuses_is_named(make: object) -> None:
    assert callable(make)
    with pytest.raises(ConfigError, match=r"Kafka connection source: .*socket\.timeout\.ms"):
        make(Connection("source", "b:1", {"request.timeout.ms": "never"}))


@pytest.mark.parametrize("make", [clients.producer, clients.consumer, clients.admin])
@pytest.mark.parametrize(
    "given", [{"reconnect.backoff.ms": "5000"}, {"reconnect.backoff.max.ms": "200"}], ids=str
)
def test_one_of_two_settings_that_belong_together_is_enough(
    make: Callable[[Connection], object], given: dict[str, str]
) -> None:
    make(Connection("source", "b:1", given))


def test_a_broker_that_is_down_is_said_to_be_so_within_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(topics, "_REQUEST_SECONDS", 2.0)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = Connection("source", f"127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(LinkError, match=r"source \(127.*topic users: .*refused.*bootstrap"):
            topics.describe(nobody, ["users"])


def test_the_log_says_a_thing_once(caplog: pytest.LogCaptureFixture) -> None:
    dedup = LogDedup(logging.getLogger("dedup"))
    for waited in range(5):
        dedup.log(
            logging.ERROR, "%s [%s] failed (after %dms)", "FAIL", "evergrid#producer-1", waited
        )
    dedup.log(logging.ERROR, "%s", "another")
    assert len(caplog.records) == 2
