"""One of Evergrid's commands as a supervised process of the demo, with a log file."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from evergrid.process import child_process
from evergrid.process.supervised_child import SupervisedChild

_STOP_SECONDS = 3.5  # unfinished work is done again at the next start
_KEPT_VARIABLES = ("EVERGRID_CACHE", "EVERGRID_IVY_SETTINGS")
_TAIL_BYTES = 4096
_TIME = re.compile(r"^\d\d:\d\d:\d\d ")


class DemoProcess(SupervisedChild):
    """Runs `evergrid NAME` until stopped; `lock` stays held as long as the process runs."""

    def __init__(
        self, name: str, config: Path, log: Path, lock: int, on_start: Callable[[], None]
    ) -> None:
        super().__init__(self._launch, _STOP_SECONDS)
        self._name = name
        self._command = [sys.executable, "-m", "evergrid", name, "-c", str(config)]
        self._log = log
        self._lock = lock
        self._on_start = on_start
        self._log_start = 0
        self._seen_line = ""

    def problem(self) -> str:
        """Why it ended, once after each end; starts it again when that is due."""
        ended = self.check()
        if ended is None:
            return ""
        reason = self._last_line().strip().removeprefix("evergrid: ") or f"exit code {ended.code}"
        return f"The {self._name} ended ({reason}); again in {ended.wait:.0f} s."

    def new_line(self) -> str:
        """The last line of its log while it runs, if that is another one than at the last call."""
        if not self.is_running:
            return ""
        before, self._seen_line = self._seen_line, self._last_line()
        return "" if before == self._seen_line else self._seen_line

    def _last_line(self) -> str:
        with self._log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._log_start, end - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").rstrip().splitlines()
        return _TIME.sub("", lines[-1]) if lines else ""

    def _launch(self) -> child_process.ChildProcess:
        # The configuration file is complete; variables must not override it.
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith("EVERGRID_") or name in _KEPT_VARIABLES
        }
        self._on_start()
        with self._log.open("ab") as output:
            self._log_start = output.tell()
            return child_process.start(self._command, output, env, hold=(self._lock,))
