"""Of all that a client says while it cannot connect, the reason is kept."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from evergrid.kafka.last_error import LastError

ALL_BROKERS_DOWN = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")
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


@pytest.mark.parametrize("less", [ALL_BROKERS_DOWN, *BROKEN_OFF])
def test_what_only_follows_from_a_reason_does_not_take_its_place(less: KafkaError) -> None:
    last_error = LastError()
    last_error(less)
    assert last_error.error is less, "it is better than nothing"
    last_error(REFUSED)
    last_error(less)
    assert last_error.error is REFUSED


def test_the_newest_reason_counts() -> None:
    last_error = LastError()
    last_error(REFUSED)
    last_error(FORBIDDEN)
    assert last_error.error is FORBIDDEN


def test_what_a_request_failed_with_counts_where_no_reason_was_heard() -> None:
    last_error = LastError()
    last_error(ALL_BROKERS_DOWN)
    last_error.add_consequence(REFUSED)
    last_error.add_consequence(FORBIDDEN)
    assert last_error.error is REFUSED
