"""`evergrid run`: pipeline and gateway together, each in a process of its own."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import NoReturn

from evergrid.cli.exit_codes import FAILED
from evergrid.cli.service_log import say, start_log
from evergrid.config.settings import Settings
from evergrid.gateway.access.key_registry import KeyRegistry
from evergrid.model.errors import ConfigError
from evergrid.process import child_process
from evergrid.process.supervised_child import Ended, SupervisedChild, stop_all

_POLL_SECONDS = 0.2
_STOP_SECONDS = 6.0
_PARTS = ("gateway", "pipeline")


def run(settings: Settings, options: argparse.Namespace) -> NoReturn:
    start_log(settings.log, "run")
    KeyRegistry(settings.gateway.keys, lambda _: None)  # fails at once if there is no key
    file = options.config or settings.file
    config = ["-c", str(file)] if file else []
    parts = {name: _supervised([name, *config]) for name in _PARTS}
    try:
        for part in parts.values():
            part.start()
        while True:
            for name, part in parts.items():
                if ended := part.check():
                    _report(name, part, ended)
            time.sleep(_POLL_SECONDS)
    finally:
        stop_all(parts.values())


def _supervised(arguments: list[str]) -> SupervisedChild:
    command = [sys.executable, "-m", "evergrid", *arguments]
    return SupervisedChild(
        lambda: child_process.start(command, sys.stdout.fileno(), os.environ), _STOP_SECONDS
    )


def _report(name: str, part: SupervisedChild, ended: Ended) -> None:
    """Say that it is started again; ConfigError if it refused to run from the beginning."""
    if ended.code == FAILED and not part.was_steady:
        raise ConfigError(f"the {name} cannot run", remedy="Its error is above.")
    say(f"The {name} ended with exit code {ended.code}; again in {ended.wait:.0f} s.")
