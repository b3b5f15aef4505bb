"""A process of the demo's: on a leash, its words in a file, started again when it falls."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Protocol

from evergrid.kafka import leash
from evergrid.kafka.restarts import Restarts

_STOP_SECONDS = 3.5  # what is cut off is done again at the next start
_KEPT_VARIABLES = ("EVERGRID_CACHE", "EVERGRID_IVY_SETTINGS")
_LAST_BYTES = 4096
_TIME = re.compile(r"^\d\d:\d\d:\d\d ")


class Watch(Protocol):
    """Whoever wants to know how a child is."""

    def started(self) -> None: ...
    def says(self, words: str) -> None: ...
    def ended(self, trouble: str) -> None: ...


class Child:
    """Runs one of Evergrid's commands until stopped; `hold` stays open as long as it does."""

    def __init__(self, command: str, config: Path, log: Path, watch: Watch, hold: int) -> None:
        self._name = command
        self._config = config
        self._log = log
        self._watch = watch
        self._hold = hold
        self._process: leash.Leashed | None = None
        self._said_from = 0
        self._restarts = Restarts()
        self.started_at = 0.0

    def start(self) -> None:
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
            self._process = leash.start(command, output, env, hold=(self._hold,))
        self._restarts.started()
        self._watch.started()

    def look(self) -> None:
        """Pass on what it says; start it again when it is time to."""
        if self._process is None:
            if self._restarts.is_due():
                self.start()
            return
        code = self._process.poll()
        said = self._last_words()
        if code is None:
            if said:
                self._watch.says(said)
            return
        self._process.stop(0.0)
        self._process = None
        wait = self._restarts.fell()
        said = said.strip().removeprefix("evergrid: ") or f"exit code {code}"
        self._watch.ended(f"The {self._name} ended ({said}); again in {wait:.0f} s.")

    def ask_to_end(self) -> None:
        if self._process is not None:
            self._process.ask_to_end(_STOP_SECONDS)

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop(_STOP_SECONDS)
            self._process = None

    def _last_words(self) -> str:
        with self._log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._said_from, end - _LAST_BYTES))
            lines = file.read().decode(errors="replace").rstrip().splitlines()
        return _TIME.sub("", lines[-1]) if lines else ""
