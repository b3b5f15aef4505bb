"""What the pipeline sends at intervals: heartbeats for gateways, ticks for the joins.

By the heartbeat gateways tell a quiet source from a pipeline that has ended.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from evergrid.changelog.internal_topics import ticks_topic
from evergrid.changelog.manifest import HeartbeatRecord, TablesBehind
from evergrid.changelog.writer import ManifestWriter
from evergrid.config.settings import Connection
from evergrid.kafka.message_sender import Sender
from evergrid.model.errors import LinkError
from evergrid.orchestrator.generations import now
from evergrid.process.worker_thread import WorkerThread

BEAT_SECONDS = 5.0
_LOOK_SECONDS = 0.5
_TICK_SECONDS = 0.25
_TICKS_PER_FLUSH = 40
_FLUSH_SECONDS = 10.0
_LOG = logging.getLogger("evergrid.orchestrator")


class Heartbeat(WorkerThread):
    """A thread that writes heartbeats to the manifest until stopped; a failure skips some.

    Each one says how old the tables are, even when the main thread hangs: `behind` is called in
    this thread.
    """

    def __init__(self, writer: ManifestWriter, behind: Callable[[], TablesBehind]) -> None:
        super().__init__("heartbeat", self._beats)
        self._writer = writer
        self._behind = behind
        self._missed = ""
        self._told = TablesBehind()

    def _beats(self) -> None:
        self._beat()
        until = time.monotonic() + BEAT_SECONDS
        while time.monotonic() < until and not self._has_changed():
            if self.stopped.wait(_LOOK_SECONDS):
                return

    def _has_changed(self) -> bool:
        """Whether tables have become old, or fresh again: that is written at once."""
        try:
            behind = self._behind()
        except Exception:
            return False  # the next beat says what is wrong
        return (bool(behind.why), behind.tables) != (bool(self._told.why), self._told.tables)

    def _beat(self) -> None:
        """No failure may end the thread: gateways would take a running pipeline for dead."""
        try:
            behind = self._behind()
            self._writer.write(HeartbeatRecord(now(), behind))
            self._told = behind
            self._missed = ""
        except LinkError:
            return  # the main thread reports a broker that is away
        except Exception as error:
            if repr(error) != self._missed:
                _LOG.exception("a heartbeat could not be written")
            self._missed = repr(error)


class Ticker(WorkerThread):
    """A thread that sends ticks until stopped: small messages that make the joins report.

    In real-time mode Spark calls a join only when a message comes. At each tick a join writes what
    it has put off, and reports how far it is.
    """

    def __init__(self, connection: Connection, prefix: str) -> None:
        super().__init__("ticker", self._send)
        self._connection = connection
        self._topic = ticks_topic(prefix)

    def _send(self) -> None:
        """With a new client after each failure, which has secrets that were rotated."""
        sender = Sender(self._connection.renewed())
        while not self.stopped.is_set():
            for _ in range(_TICKS_PER_FLUSH):
                sender.send(self._topic, b"")
                if self.stopped.wait(_TICK_SECONDS):
                    return
            sender.flush(_FLUSH_SECONDS)
