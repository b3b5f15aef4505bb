"""Sends the sample events at their pace, in the background, and survives a broker that is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from evergrid.config.settings import Connection
from evergrid.demo.sample_events import events
from evergrid.kafka.sending import Sender

_AGAIN_SECONDS = 1.0


class EventProducer:
    """A thread that tells the endless day to the source topics."""

    def __init__(
        self, connection: Connection, topics: Mapping[str, str], rate: float, seed: int
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._rate = rate
        self._seed = seed
        self._stop = threading.Event()
        # A daemon: a send that waits for a broker must not hold up the end of the process.
        self._thread = threading.Thread(target=self._run, name="producer", daemon=True)
        self.sent = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Send nothing more; what was not taken yet is left out."""
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
                # A client that gave up for good, say after its broker lost what it had
                # confirmed. Whatever the reason, a new client is the remedy.
                if self._stop.wait(_AGAIN_SECONDS):
                    return
                sender = self._sender()

    def _sender(self) -> Sender:
        """It waits for a broker as long as it takes; its queue is bounded."""
        return Sender(self._connection, **{"delivery.timeout.ms": 0})
