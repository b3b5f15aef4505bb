"""`evergrid pipeline`: Spark and the orchestrator, until a signal stops them."""

from __future__ import annotations

import argparse
import os
from typing import NoReturn

from evergrid.broker import jars
from evergrid.cli.exit_codes import handle_signals
from evergrid.cli.preflight import check_machine
from evergrid.cli.service_log import say, start_log
from evergrid.config.settings import Settings
from evergrid.orchestrator.orchestrator import Orchestrator
from evergrid.process import child_process
from evergrid.process.directory_lock import lock_directory
from evergrid.process.private_directory import make_private


def run(settings: Settings, _options: argparse.Namespace) -> NoReturn:
    start_log(settings.log, "pipeline")
    os.umask(child_process.PRIVATE)
    make_private(settings.data_dir, say)
    lock_directory(settings.data_dir, "pipeline")
    check_machine(settings)
    orchestrator = Orchestrator(settings, jars.fetch(say), say, handle_signals)
    try:
        orchestrator.run()
    finally:
        orchestrator.close()
