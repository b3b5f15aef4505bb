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
from evergrid.kafka.restarts import Restarts
from evergrid.model.errors import ConfigError

HELP = "run pipeline and gateway together"

_LOOK_SECONDS = 0.2
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
        for part in parts:
            part.ask_to_end()
        for part in parts:
            part.stop()


class _Part:
    """One of the two processes: started again when it falls, unless it cannot stand."""

    def __init__(self, name: str, file: Path | None) -> None:
        self._name = name
        chosen = ["-c", str(file)] if file else []
        self._command = [sys.executable, "-m", "evergrid", name, *chosen]
        self._process: leash.Leashed | None = None
        self._restarts = Restarts()
        self._stood = False

    def start(self) -> None:
        self._process = leash.start(self._command, sys.stdout.fileno(), os.environ)
        self._restarts.started()

    def look(self) -> None:
        if self._process is None:
            if self._restarts.is_due():
                self.start()
            return
        self._stood = self._stood or self._restarts.is_calm()
        code = self._process.poll()
        if code is None:
            return
        self._process = None
        if code == _REFUSED and not self._stood:
            raise ConfigError(f"the {self._name} cannot run", remedy="It said above why.")
        wait = self._restarts.fell()
        print(
            f"{time.strftime('%H:%M:%S')} The {self._name} ended with exit code {code}; "
            f"again in {wait:.0f} s.",
            flush=True,
        )

    def ask_to_end(self) -> None:
        if self._process is not None:
            self._process.ask_to_end(_STOP_SECONDS)

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop(_STOP_SECONDS)
