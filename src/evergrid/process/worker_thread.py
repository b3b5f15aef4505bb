"""A thread that works until it is stopped, whatever fails meanwhile."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from evergrid.model.errors import EvergridError

_RETRY_SECONDS = 2.0
_LOG = logging.getLogger("evergrid")


class WorkerThread:
    """Calls `work` until stopped; after a failure it waits for two seconds.

    `work` returns soon after `stopped` is set. An EvergridError is not logged: Kafka is away, and
    the main thread reports that.
    """

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self.stopped = threading.Event()
        self._work = work
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopped.set()

    def _run(self) -> None:
        while not self.stopped.is_set():
            try:
                self._work()
            except Exception as error:
                if not isinstance(error, EvergridError):
                    _LOG.exception("thread %s failed and starts again", self._thread.name)
                self.stopped.wait(_RETRY_SECONDS)
