"""`evergrid demo`: a broker, sample events and the live join, on this terminal."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from pathlib import Path

from rich.console import Console

from evergrid.demo.board import Board
from evergrid.demo.demo_broker import KafkaSecurity
from evergrid.demo.demo_services import Stage
from evergrid.demo.demo_settings import Choices, make_scene
from evergrid.demo.display import in_lines, on_terminal
from evergrid.model.join import JoinType

HELP = "see it live: a Kafka broker, sample events, the joined tables"

_LOOK_SECONDS = 0.25
_HIGHEST_RATE = 10_000.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rate", type=_rate, default=50.0, metavar="N", help="events a second (50)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="the same seed tells the same story (1)"
    )
    parser.add_argument(
        "--port", type=_port, metavar="P", help="the broker's port (the last one, or a free one)"
    )
    parser.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="where it keeps its files (.evergrid/demo)"
    )
    parser.add_argument(
        "--join", choices=[kind.value for kind in JoinType], help="the join's type (left)"
    )
    parser.add_argument(
        "--kafka-security",
        choices=[kind.value for kind in KafkaSecurity],
        default=KafkaSecurity.NONE.value,
        help="how the broker is secured, with ACLs (none)",
    )
    parser.add_argument(
        "--minutes", type=_minutes, metavar="M", help="end after being live so long"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="forget what is in the directory and start over"
    )


def _rate(text: str) -> float:
    return _between(float(text), 0.1, _HIGHEST_RATE)


def _minutes(text: str) -> float:
    return _between(float(text), 0.0, 1e6)


def _port(text: str) -> int:
    return int(_between(int(text), 1, 65535))


def _between(number: float, least: float, most: float) -> float:
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"must be from {least:g} to {most:g}")
    return number


def run(options: argparse.Namespace) -> int:
    choices = Choices(
        config=options.config,
        directory=options.data_dir,
        join=JoinType(options.join) if options.join else None,
        rate=options.rate,
        seed=options.seed,
        port=options.port,
        fresh=options.fresh,
        security=KafkaSecurity(options.kafka_security),
    )
    scene = make_scene(choices, os.environ)
    board = Board(scene.words, scene.tables, scene.focus, scene.quarantine)
    stage = Stage(scene, board)
    stage.claim()
    with _display(board):
        try:
            stage.open()
            _watch(stage, board, options.minutes)
        finally:
            board.stopping()
            stage.close()
    print("Stopped.", file=sys.stderr)
    return 0


def _display(board: Board) -> contextlib.AbstractContextManager[None]:
    console = Console()
    return on_terminal(board, console) if console.is_terminal else in_lines(board, sys.stdout)


def _watch(stage: Stage, board: Board, minutes: float | None) -> None:
    """Return when it was live for as long as was asked for, if that was asked for."""
    while True:
        stage.look()
        live = time.time() - board.live_since if board.live_since else 0.0
        if minutes is not None and board.live_since and live >= 60 * minutes:
            return
        time.sleep(_LOOK_SECONDS)
