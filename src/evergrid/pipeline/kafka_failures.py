"""Explains Kafka errors of a query in the same sentences as the Python client.

Spark wraps the errors of its Java client, which say less than those of the Python client: about
a token that could not be fetched, for example, nothing. So the Python client is tried as well.
"""

from __future__ import annotations

import re

from evergrid.config.settings import Connection, Settings
from evergrid.kafka.cluster_probe import reach
from evergrid.kafka.diagnosis import Diagnosis, Step, access_error, diagnose
from evergrid.kafka.identity import scrub
from evergrid.model.errors import ConfigError, LinkError

_REACH_SECONDS = 5.0
_TOPICS = re.compile(r"Not authorized to access topics: \[([^\]]*)\]")

# What the Java client says when it is not let in, whatever the reason.
REFUSED = (
    "AuthenticationException",
    "AuthorizationException",
    "LoginException",
    "UnsupportedSaslMechanism",
    "SSLHandshakeException",
    "Failed to create new KafkaAdminClient",
    "Failed to construct kafka",
)


class KafkaFailures:
    """Explains errors of one pipeline's clusters, once it has settings."""

    def __init__(self) -> None:
        self._settings: Settings | None = None

    def know(self, settings: Settings) -> None:
        self._settings = settings

    def sentence(self, text: str) -> str | None:
        """The meaning of Spark's `text`; None if access was not denied."""
        if self._settings is None or not any(words in text for words in REFUSED):
            return None
        denied = _TOPICS.search(text)
        if denied is not None:
            return self._denied(denied[1].split(", "), text)
        for connection in self._connections():
            try:
                reach(connection, _REACH_SECONDS)
            except (LinkError, ConfigError) as error:
                return error.sentence()
        return self._by_its_words(text)

    def scrubbed(self, text: str) -> str:
        """`text` without the pipeline's secrets."""
        for connection in self._connections():
            text = scrub(connection, text)
        return text

    def _connections(self) -> tuple[Connection, ...]:
        if self._settings is None:
            return ()
        kafka = self._settings.kafka
        return (kafka.source, kafka.internal)

    def _denied(self, topics: list[str], text: str) -> str | None:
        assert self._settings is not None
        prefix = f"{self._settings.internal_topics.prefix}."
        ours = any(topic.startswith(prefix) for topic in topics)
        kafka = self._settings.kafka
        connection = kafka.internal if ours else kafka.source
        trouble = diagnose(connection, text)
        doing = "write to" if ours else "read"
        return _told(connection, f"{doing} topic {', '.join(topics)}", trouble)

    def _by_its_words(self, text: str) -> str | None:
        """The reason by its text: the Python client may connect, so only the Java client fails."""
        found = ((connection, diagnose(connection, text)) for connection in self._connections())
        told = (_told(connection, "connect from Spark", trouble) for connection, trouble in found)
        return next((sentence for sentence in told if sentence), None)


def _told(connection: Connection, doing: str, trouble: Diagnosis | None) -> str | None:
    if trouble is None or trouble.step is Step.HOST:
        return None
    return access_error(connection, doing, trouble).sentence()


kafka_failures = KafkaFailures()  # of the one pipeline that a process runs
