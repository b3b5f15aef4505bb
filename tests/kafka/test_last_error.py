"""Of all that a client says while it cannot connect, the reason is kept."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from evergrid.kafka.last_error import Ear

ALL_DOWN = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")
REFUSED = KafkaError(KafkaError._AUTHENTICATION, "SASL authentication error: invalid_token")
FORBIDDEN = KafkaError(KafkaError._AUTHENTICATION, "SASL authentication error: bad password")
HANDSHAKE = "SASL OAUTHBEARER mechanism handshake failed: "
BROKEN_OFF = [
    KafkaError(KafkaError._AUTHENTICATION, f"{HANDSHAKE}{why}: broker's supported mechanisms: ")
    for why in (
        "Local: Broker transport failure",
        "Broker: Request not valid in current SASL state",
    )
]


@pytest.mark.parametrize("less", [ALL_DOWN, *BROKEN_OFF])
def test_what_only_follows_from_a_reason_does_not_take_its_place(less: KafkaError) -> None:
    ear = Ear()
    ear(less)
    assert ear.heard is less, "it is better than nothing"
    ear(REFUSED)
    ear(less)
    assert ear.heard is REFUSED


def test_the_newest_reason_counts() -> None:
    ear = Ear()
    ear(REFUSED)
    ear(FORBIDDEN)
    assert ear.heard is FORBIDDEN


def test_what_a_request_failed_with_counts_where_no_reason_was_heard() -> None:
    ear = Ear()
    ear(ALL_DOWN)
    ear.follows(REFUSED)
    ear.follows(FORBIDDEN)
    assert ear.heard is REFUSED
