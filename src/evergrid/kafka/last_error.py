"""Why a client cannot connect: librdkafka reports it only through `error_cb`.

The call itself just times out, so that without this a wrong password would read "timed out".
"""

from __future__ import annotations

from confluent_kafka import KafkaError

# librdkafka marks its own errors with an underscore in front; they are public all the same.
ALL_BROKERS_DOWN = KafkaError._ALL_BROKERS_DOWN
# A broker answered, and refused the connection.
ACCESS_DENIED = (
    KafkaError._AUTHENTICATION,
    KafkaError._SSL,
    KafkaError.SASL_AUTHENTICATION_FAILED,
)
# No more is known than that nobody answered.
NO_ANSWER = (
    ALL_BROKERS_DOWN,
    KafkaError._MSG_TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
)

_LOGIN_ABORTED = (
    "mechanism handshake failed: Local: Broker transport failure",
    "mechanism handshake failed: Broker: Request not valid in current SASL state",
)


def is_login_aborted(reason: str) -> bool:
    """Whether a client's error text says no more than that its login was cut off."""
    return any(text in reason for text in _LOGIN_ABORTED)


class LastError:
    """An `error_cb` that keeps the newest reason; the client's `poll` calls it."""

    def __init__(self) -> None:
        self.error: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        if error.code() == ALL_BROKERS_DOWN or is_login_aborted(error.str()):
            self.add_consequence(error)
        else:
            self.error = error

    def add_consequence(self, error: KafkaError) -> None:
        """Keep an error that only follows from a reason, if no reason is known."""
        if self.error is None or self.error.code() == ALL_BROKERS_DOWN:
            self.error = error

    def clear(self) -> None:
        self.error = None

    def reason(self, failure: KafkaError) -> KafkaError:
        """`failure`, or the kept error where `failure` says only that nobody answered."""
        return self.error if failure.code() in NO_ANSWER and self.error else failure
