"""Remembering why a client cannot connect.

Without that all a user would read of a wrong password is "timed out".
"""

from __future__ import annotations

from confluent_kafka import KafkaError

# librdkafka marks its own errors with an underscore in front; they are public all the same.
ALL_DOWN = KafkaError._ALL_BROKERS_DOWN
# What says that somebody is there who does not let us in.
SHUT_OUT = (
    KafkaError._AUTHENTICATION,
    KafkaError._SSL,
    KafkaError.SASL_AUTHENTICATION_FAILED,
)
# What says no more than that nobody answered.
SILENCE = (
    ALL_DOWN,
    KafkaError._MSG_TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
)


_BROKEN_OFF = (
    "mechanism handshake failed: Local: Broker transport failure",
    "mechanism handshake failed: Broker: Request not valid in current SASL state",
)


def is_broken_off(reason: str) -> bool:
    """Whether a client's words say no more than that its login was broken off."""
    return any(words in reason for words in _BROKEN_OFF)


class Ear:
    """An `error_cb` that keeps the newest reason; the client's `poll` hands it over."""

    def __init__(self) -> None:
        self._heard: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        if error.code() == ALL_DOWN or is_broken_off(error.str()):
            self.follows(error)
        else:
            self._heard = error

    def follows(self, error: KafkaError) -> None:
        """Hear what follows each reason and says less: it counts where there is no reason."""
        if self._heard is None or self._heard.code() == ALL_DOWN:
            self._heard = error

    @property
    def heard(self) -> KafkaError | None:
        return self._heard

    def forget(self) -> None:
        self._heard = None

    def reason(self, failure: KafkaError) -> KafkaError:
        """`failure`, or what was heard where that is mere silence."""
        return self._heard if failure.code() in SILENCE and self._heard else failure
