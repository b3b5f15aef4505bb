"""Ticks: small messages that make the joins look at their clocks.

In real-time mode Spark looks at timers only when a message comes. At each tick a join writes what
it has put off, and reports how far it is.
"""

from __future__ import annotations

import logging
import threading

from evergrid.changelog.internal_topics import ticks_topic
from evergrid.config.settings import Connection
from evergrid.kafka.sending import Sender
from evergrid.model.errors import EvergridError

_TICK_SECONDS = 0.25
_RETRY_SECONDS = 2.0
_FLUSH_SECONDS = 10.0
_PER_FLUSH = 40
_LOG = logging.getLogger("evergrid.orchestrator")


class Ticker:
    """A thread that sends ticks until stopped; whatever fails makes it miss some."""

    def __init__(self, connection: Connection, prefix: str) -> None:
        self._connection = connection
        self._topic = ticks_topic(prefix)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._tick()
            except EvergridError:
                self._stopped.wait(_RETRY_SECONDS)  # that Kafka is away is said elsewhere
            except Exception:
                _LOG.exception("ticks could not be sent")
                self._stopped.wait(_RETRY_SECONDS)

    def _tick(self) -> None:
        """With a client of its own, made anew after a fault and with secrets that were rotated."""
        sender = Sender(self._connection.renewed())
        while not self._stopped.is_set():
            for _ in range(_PER_FLUSH):
                sender.send(self._topic, b"")
                if self._stopped.wait(_TICK_SECONDS):
                    return
            sender.flush(_FLUSH_SECONDS)
