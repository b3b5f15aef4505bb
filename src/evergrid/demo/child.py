"""A process of the demo: its output in a file, started again when it ends."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Protocol

from evergrid.process import child_process
from evergrid.process.child_process import ChildProcess
from evergrid.process.supervised_child import SupervisedChild

_STOP_SECONDS = 3.5  # what is cut off is done again at the next start
_KEPT_VARIABLES = ("EVERGRID_CACHE", "EVERGRID_IVY_SETTINGS")
_LAST_BYTES = 4096
_TIME = re.compile(r"^\d\d:\d\d:\d\d ")


class Watch(Protocol):
    """Whoever wants to know how a child is."""

    def started(self) -> None: ...
    def says(self, words: str) -> None: ...
    def ended(self, trouble: str) -> None: ...


class Child(SupervisedChild):
    """Runs one of Evergrid's commands until stopped; `hold` stays open as long as it does."""

    def __init__(self, command: str, config: Path, log: Path, watch: Watch, hold: int) -> None:
        super().__init__(self._launch, _STOP_SECONDS)
        self._name = command
        self._config = config
        self._log = log
        self._watch = watch
        self._hold = hold
        self._said_from = 0
        self.started_at = 0.0

    def _launch(self) -> ChildProcess:
        # The settings in the file are whole; variables that made them must not change them.
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith("EVERGRID_") or name in _KEPT_VARIABLES
        }
        command = [sys.executable, "-m", "evergrid", self._name, "-c", str(self._config)]
        with self._log.open("ab") as output:
            self._said_from = output.tell()
            self.started_at = time.time()
            process = child_process.start(command, output, env, hold=(self._hold,))
        self._watch.started()
        return process

    def look(self) -> None:
        """Pass on what it says; start it again when it is time to."""
        ended = self.check()
        said = self._last_words()
        if ended is not None:
            said = said.strip().removeprefix("evergrid: ") or f"exit code {ended.code}"
            self._watch.ended(f"The {self._name} ended ({said}); again in {ended.wait:.0f} s.")
        elif said and self.is_running:
            self._watch.says(said)

    def _last_words(self) -> str:
        with self._log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._said_from, end - _LAST_BYTES))
            lines = file.read().decode(errors="replace").rstrip().splitlines()
        return _TIME.sub("", lines[-1]) if lines else ""
