"""`evergrid demo`: a broker, sample events, pipeline and gateway on this machine."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from evergrid.cli.arguments import integer_from, number_between
from evergrid.cli.exit_codes import OK
from evergrid.cli.terminal import warn
from evergrid.demo.demo_broker import KafkaSecurity
from evergrid.demo.demo_settings import DemoOptions, demo_settings
from evergrid.model.join import JoinType

if TYPE_CHECKING:
    from evergrid.demo.board import Board
    from evergrid.demo.demo_services import DemoServices

HELP = "run a demo: a Kafka broker, sample events, the joined tables"

_POLL_SECONDS = 0.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rate",
        type=number_between(0.1, 10_000),
        default=50.0,
        metavar="N",
        help="sample events a second (default: 50)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the sample events; the same seed gives the same events (default: 1)",
    )
    parser.add_argument(
        "--port",
        type=integer_from(1, 65535),
        metavar="P",
        help="the broker's port (default: that of the last run, or a free one)",
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="the directory for the demo's files (default: .evergrid/demo)",
    )
    parser.add_argument(
        "--join", choices=[kind.value for kind in JoinType], help="the join's type (default: left)"
    )
    parser.add_argument(
        "--kafka-security",
        choices=[kind.value for kind in KafkaSecurity],
        default=KafkaSecurity.NONE.value,
        help="how clients authenticate at the broker; all but none use TLS and ACLs "
        "(default: none)",
    )
    parser.add_argument(
        "--minutes",
        type=number_between(0, 1e6),
        metavar="M",
        help="end after the tables were live for so long (default: never)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="delete the data of the last run and start over"
    )


def run(arguments: argparse.Namespace) -> int:
    # The client and rich take a moment to import, which --help need not wait for.
    from rich.console import Console

    from evergrid.cli.demo_display import show
    from evergrid.demo.board import Board
    from evergrid.demo.demo_services import DemoServices

    options = DemoOptions(
        config=arguments.config,
        directory=arguments.data_dir,
        join=JoinType(arguments.join) if arguments.join else None,
        rate=arguments.rate,
        seed=arguments.seed,
        port=arguments.port,
        fresh=arguments.fresh,
        security=KafkaSecurity(arguments.kafka_security),
    )
    demo = demo_settings(options, os.environ)
    board = Board(demo.tables, demo.quarantine)
    services = DemoServices(demo, board)
    services.claim_directory()
    with show(board, Console(markup=False, emoji=False, highlight=False)):
        try:
            services.start()
            board.note(f"Follow a table: {demo.tail_command}")
            _watch(services, board, arguments.minutes)
        finally:
            board.stopping()
            services.stop()
    warn("Stopped.")
    return OK


def _watch(services: DemoServices, board: Board, minutes: float | None) -> None:
    """Keep the services running; with `minutes`, until the tables were live for so long."""
    while True:
        services.check()
        live = time.time() - board.live_since if board.live_since else 0.0
        if minutes is not None and board.live_since and live >= 60 * minutes:
            return
        time.sleep(_POLL_SECONDS)
