"""`evergrid pipeline`: Spark and the orchestrator, until a signal stops them."""

from __future__ import annotations

import argparse
import contextlib
import os
from typing import NoReturn

from evergrid.broker import jars
from evergrid.cli.exit_codes import handle_signals
from evergrid.cli.preflight import check_machine
from evergrid.cli.service_log import say, start_log
from evergrid.config.settings import Settings
from evergrid.orchestrator.orchestrator import Orchestrator
from evergrid.orchestrator.ownership import Ownership
from evergrid.process import child_process
from evergrid.process.directory_lock import lock_directory
from evergrid.process.private_directory import make_private


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--standby",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="while another pipeline has the same topics: wait, and take over when it ends "
        "(default); or end with an error",
    )


def run(settings: Settings, options: argparse.Namespace) -> NoReturn:
    start_log(settings.log, "pipeline")
    os.umask(child_process.PRIVATE)
    make_private(settings.data_dir, say)
    lock = lock_directory(settings.data_dir, "pipeline", _wait if options.standby else None)
    check_machine(settings)
    libraries = jars.fetch(say)
    with contextlib.closing(Ownership(settings, lock, say)) as ownership:
        ownership.acquire(standby=options.standby)
        orchestrator = Orchestrator(settings, ownership, libraries, say, handle_signals)
        try:
            orchestrator.run()
        finally:
            orchestrator.close()


def _wait(reason: str) -> None:
    say(f"Waiting as a standby until that ends: {reason}.")
