"""`evergrid run`: pipeline and gateway together, each in a process of its own."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from pathlib import Path
from typing import NoReturn

from evergrid.config.settings import Settings
from evergrid.gateway.access.key_registry import KeyRegistry
from evergrid.model.errors import ConfigError
from evergrid.process import child_process
from evergrid.process.child_process import ChildProcess
from evergrid.process.supervised_child import Ended, SupervisedChild, stop_all

HELP = "run pipeline and gateway together"

_LOOK_SECONDS = 0.2
_STOP_SECONDS = 6.0
_PARTS = ("gateway", "pipeline")
_REFUSED = 1  # ended by its own decision, with a sentence


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """It needs nothing but the configuration."""


def run(settings: Settings, options: argparse.Namespace) -> NoReturn:
    KeyRegistry(settings.gateway.keys, lambda _: None)  # or say at once that there is none
    file = options.config or settings.file
    parts = {
        name: SupervisedChild(functools.partial(_start, name, file), _STOP_SECONDS)
        for name in _PARTS
    }
    try:
        for part in parts.values():
            part.start()
        while True:
            for name, part in parts.items():
                ended = part.check()
                if ended is not None:
                    _report(name, part, ended)
            time.sleep(_LOOK_SECONDS)
    finally:
        stop_all(parts.values())


def _start(name: str, file: Path | None) -> ChildProcess:
    chosen = ["-c", str(file)] if file else []
    command = [sys.executable, "-m", "evergrid", name, *chosen]
    return child_process.start(command, sys.stdout.fileno(), os.environ)


def _report(name: str, part: SupervisedChild, ended: Ended) -> None:
    if ended.code == _REFUSED and not part.was_steady:
        raise ConfigError(f"the {name} cannot run", remedy="It said above why.")
    print(
        f"{time.strftime('%H:%M:%S')} The {name} ended with exit code {ended.code}; "
        f"again in {ended.wait:.0f} s.",
        flush=True,
    )
