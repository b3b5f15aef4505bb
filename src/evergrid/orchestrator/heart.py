"""The pipeline's sign of life: those who watch can tell a quiet source from a dead pipeline."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from evergrid.changelog.manifest import Behind
from evergrid.changelog.writer import ManifestWriter
from evergrid.model.errors import LinkError
from evergrid.orchestrator.generations import now

BEAT_SECONDS = 5.0
_LOOK_SECONDS = 0.5
_LOG = logging.getLogger("evergrid.orchestrator")


class Heart:
    """A thread that beats in the manifest until stopped; whatever fails makes it miss beats.

    It tells how old the tables are as well, even when everything else hangs: `behind` is asked
    in this thread.
    """

    def __init__(self, writer: ManifestWriter, behind: Callable[[], Behind]) -> None:
        self._writer = writer
        self._behind = behind
        self._missed = ""
        self._told = Behind()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._beat()
            until = time.monotonic() + BEAT_SECONDS
            while time.monotonic() < until and not self._has_news():
                if self._stopped.wait(_LOOK_SECONDS):
                    return

    def _has_news(self) -> bool:
        """Whether tables have become old, or fresh again: nobody waits for the next beat then."""
        try:
            behind = self._behind()
        except Exception:
            return False  # the next beat says what is wrong
        return (bool(behind.why), behind.tables) != (bool(self._told.why), self._told.tables)

    def _beat(self) -> None:
        """Nothing may end it: those who watch would take a pipeline that runs for dead."""
        try:
            behind = self._behind()
            self._writer.pulse(now(), behind)
            self._told = behind
            self._missed = ""
        except LinkError:
            return  # a broker that is away is said elsewhere
        except Exception as error:
            if repr(error) != self._missed:
                _LOG.exception("a sign of life could not be given")
            self._missed = repr(error)
