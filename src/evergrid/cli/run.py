"""`evergrid run`: pipeline and gateway together, each in a process of its own."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import NoReturn

from evergrid.config.settings import Settings
from evergrid.gateway.entry.keys import Keys
from evergrid.kafka import leash
from evergrid.model.errors import ConfigError

HELP = "run pipeline and gateway together"

_LOOK_SECONDS = 0.2
_LONGEST_WAIT_SECONDS = 30.0
_CALM_SECONDS = 60.0  # a part that ran this long starts again with the shortest wait
_STOP_SECONDS = 6.0
_PARTS = ("gateway", "pipeline")
_REFUSED = 1  # ended by its own decision, with a sentence


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """It needs nothing but the configuration."""


def run(settings: Settings, options: argparse.Namespace) -> NoReturn:
    Keys(settings.gateway.keys, lambda _: None)  # or say at once that there is none
    file = options.config or settings.file
    parts = [_Part(name, file) for name in _PARTS]
    try:
        for part in parts:
            part.start()
        while True:
            for part in parts:
                part.look()
            time.sleep(_LOOK_SECONDS)
    finally:
        for part in reversed(parts):
            part.stop()


class _Part:
    """One of the two processes: started again when it falls, unless it cannot stand."""

    def __init__(self, name: str, file: Path | None) -> None:
        self._name = name
        chosen = ["-c", str(file)] if file else []
        self._command = [sys.executable, "-m", "evergrid", name, *chosen]
        self._process: leash.Leashed | None = None
        self._started = 0.0
        self._due = 0.0
        self._wait = 0.0
        self._stood = False

    def start(self) -> None:
        self._process = leash.start(self._command, sys.stdout.fileno(), os.environ)
        self._started = time.monotonic()

    def look(self) -> None:
        now = time.monotonic()
        if self._process is None:
            if now >= self._due:
                self.start()
            return
        calm = now - self._started > _CALM_SECONDS
        self._stood = self._stood or calm
        code = self._process.poll()
        if code is None:
            return
        self._process = None
        if code == _REFUSED and not self._stood:
            raise ConfigError(f"the {self._name} cannot run", remedy="It said above why.")
        self._wait = 1.0 if calm or not self._wait else min(_LONGEST_WAIT_SECONDS, 2 * self._wait)
        self._due = now + self._wait
        print(
            f"{time.strftime('%H:%M:%S')} The {self._name} ended with exit code {code}; "
            f"again in {self._wait:.0f} s.",
            flush=True,
        )

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop(_STOP_SECONDS)
