"""The pipeline's sign of life: those who watch can tell a quiet source from a dead pipeline."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from evergrid.changelog.manifest import Behind
from evergrid.changelog.writer import ManifestWriter
from evergrid.model.errors import LinkError
from evergrid.orchestrator.generations import now

BEAT_SECONDS = 5.0


class Heart:
    """A thread that beats in the manifest until stopped; a broker away makes it miss beats.

    It tells how old the tables are as well, even when everything else hangs: `behind` is asked
    in this thread.
    """

    def __init__(self, writer: ManifestWriter, behind: Callable[[], Behind]) -> None:
        self._writer = writer
        self._behind = behind
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(LinkError):
                self._writer.pulse(now(), self._behind())
            self._stopped.wait(BEAT_SECONDS)
