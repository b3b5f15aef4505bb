"""Why a query ended decides what is done about it."""

from __future__ import annotations

import pytest

from evergrid.pipeline.query_failures import Cause, cause_of

SAID = {
    "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position": Cause.LOST,
    "[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some data may have been lost": Cause.LOST,
    "[CANNOT_LOAD_STATE_STORE.CANNOT_READ_CHECKPOINT] Cannot read": Cause.LOST,
    "[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY] Cannot restart": Cause.LOST,
    "[STREAMING_CHECKPOINT_LOG_WRITE_FAILURE.OFFSET_LOG] offset log": Cause.UNWRITTEN,
    "[CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT] java.io.IOException": Cause.UNWRITTEN,
    "java.io.IOException: No space left on device": Cause.UNWRITTEN,
    "org.apache.kafka.common.errors.TimeoutException: Timeout of 60000ms": Cause.PASSING,
    "org.apache.kafka.common.errors.SaslAuthenticationException: no": Cause.UNWRITTEN,
    "org.apache.kafka.common.errors.SslAuthenticationException: no": Cause.UNWRITTEN,
    "TopicAuthorizationException: Not authorized to access topics: [users]": Cause.UNWRITTEN,
    "KafkaException: Failed to construct kafka consumer": Cause.UNWRITTEN,
    "Spark could not start query ingest: Kafka connection source (b:1): no": Cause.UNWRITTEN,
    "[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT] not enough slots": Cause.PASSING,
}


@pytest.mark.parametrize("text", SAID)
def test_cause(text: str) -> None:
    assert cause_of(text) is SAID[text]
