"""`evergrid run`: pipeline and gateway together, each in a process of its own."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import NoReturn

from evergrid.cli.arguments import no_arguments as add_arguments
from evergrid.cli.exit_codes import FAILED
from evergrid.cli.terminal import say
from evergrid.config.settings import Settings
from evergrid.gateway.entry.keys import Keys
from evergrid.kafka import leash
from evergrid.kafka.restarts import Ended, SupervisedProcess
from evergrid.model.errors import ConfigError

__all__ = ["HELP", "add_arguments", "run"]

HELP = "run pipeline and gateway together"

_POLL_SECONDS = 0.2
_STOP_SECONDS = 6.0
_PARTS = ("gateway", "pipeline")


def run(settings: Settings, options: argparse.Namespace) -> NoReturn:
    Keys(settings.gateway.keys, lambda _: None)  # fails at once if there is no key
    file = options.config or settings.file
    config = ["-c", str(file)] if file else []
    parts = {name: _supervised([name, *config]) for name in _PARTS}
    try:
        for part in parts.values():
            part.start()
        while True:
            for name, part in parts.items():
                if ended := part.poll():
                    _report(name, ended)
            time.sleep(_POLL_SECONDS)
    finally:
        for part in parts.values():
            part.ask_to_end(_STOP_SECONDS)
        for part in parts.values():
            part.stop(_STOP_SECONDS)


def _supervised(arguments: list[str]) -> SupervisedProcess:
    command = [sys.executable, "-m", "evergrid", *arguments]
    return SupervisedProcess(lambda: leash.start(command, sys.stdout.fileno(), os.environ))


def _report(name: str, ended: Ended) -> None:
    """Say that it is started again; ConfigError if it refused to run from the beginning."""
    if ended.code == FAILED and not ended.was_stable:
        raise ConfigError(f"the {name} cannot run", remedy="Its error is above.")
    say(f"The {name} ended with exit code {ended.code}; again in {ended.restart_in:.0f} s.")
