"""`evergrid pipeline`: Spark and the orchestrator, until told to stop."""

from __future__ import annotations

import argparse
import time
from typing import NoReturn

from evergrid.cli.exit_codes import heed_signals
from evergrid.cli.preflight import check_surroundings
from evergrid.config.settings import Settings
from evergrid.kafka import jars
from evergrid.kafka.folder import take_lock

HELP = "join the source topics and keep their changelogs up to date"


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """It needs nothing but the configuration."""


def run(settings: Settings) -> NoReturn:
    # Spark's Python side takes a second to import, which --help need not wait for.
    from evergrid.orchestrator.conductor import Conductor

    settings.data_dir.mkdir(parents=True, exist_ok=True)
    take_lock(settings.data_dir, "pipeline")
    check_surroundings(settings)
    conductor = Conductor(settings, jars.fetch(say), say, heed_signals)
    try:
        conductor.run()
    finally:
        conductor.close()


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
