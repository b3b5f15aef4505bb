"""`evergrid pipeline`: Spark and the orchestrator, until a signal stops them."""

from __future__ import annotations

import argparse
from typing import NoReturn

from evergrid.broker import jars
from evergrid.cli.arguments import no_arguments as add_arguments
from evergrid.cli.exit_codes import handle_signals
from evergrid.cli.preflight import check_machine
from evergrid.cli.terminal import say
from evergrid.config.settings import Settings
from evergrid.process.directory_lock import lock_directory

__all__ = ["HELP", "add_arguments", "run"]

HELP = "join the source topics and write the changelogs"


def run(settings: Settings, _options: argparse.Namespace) -> NoReturn:
    # Spark's Python side takes a second to import, which --help need not wait for.
    from evergrid.orchestrator.orchestrator import Orchestrator

    settings.data_dir.mkdir(parents=True, exist_ok=True)
    lock_directory(settings.data_dir, "pipeline")
    check_machine(settings)
    orchestrator = Orchestrator(settings, jars.fetch(say), say, handle_signals)
    try:
        orchestrator.run()
    finally:
        orchestrator.close()
