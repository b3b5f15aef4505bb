"""Sends the sample events in the background, at their rate, also through broker outages."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from evergrid.config.settings import Connection
from evergrid.demo.sample_events import events
from evergrid.kafka.message_sender import Sender

_RETRY_SECONDS = 1.0


class SampleProducer:
    """A thread that sends sample events to the source topics."""

    def __init__(
        self, connection: Connection, topics: Mapping[str, str], rate: float, seed: int
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._rate = rate
        self._seed = seed
        self._stop = threading.Event()
        # A daemon, so that a send that waits for a broker does not delay the end of the process.
        self._thread = threading.Thread(target=self._run, name="producer", daemon=True)
        self.sent = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Send nothing more; events that the broker did not take yet are dropped."""
        self._stop.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        sender = self._sender()
        began = time.monotonic()
        for event in events(self._seed, time.time_ns() // 1_000_000, self._rate):
            if self._stop.wait(max(0.0, began + event.due - time.monotonic())):
                return
            topic = self._topics.get(event.source)
            if topic is None:
                continue
            try:
                sender.send(topic, event.value, event.key, timestamp_ms=event.timestamp_ms)
                self.sent += 1
            except Exception:
                # The client failed for good, for example because the broker lost messages that
                # it had acknowledged. A new client goes on.
                if self._stop.wait(_RETRY_SECONDS):
                    return
                sender = self._sender()

    def _sender(self) -> Sender:
        """Waits for a broker without a timeout; its queue is bounded."""
        return Sender(self._connection, **{"delivery.timeout.ms": 0})
