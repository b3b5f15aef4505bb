"""What can be typed, and what `--help` says about it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from evergrid.cli import check, demo, gateway, key, pipeline, run, tail
from evergrid.cli.manners import politely
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.version import __version__

_EPILOG = """\
The configuration is evergrid.yaml in this directory unless -c or EVERGRID_CONFIG names
another; without any, Evergrid runs with its defaults. docs/configuration.md explains it.
"""

_DEFAULT_FILE = Path("evergrid.yaml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the process's exit code."""
    options = _parser().parse_args(arguments)
    return politely(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if options.command == "demo":
        return demo.run(options)
    settings = load(_file(options.config), os.environ)
    return _COMMANDS[options.command](settings, options)


def _file(chosen: Path | None) -> Path | None:
    if chosen is not None:
        return chosen
    if named := os.environ.get("EVERGRID_CONFIG"):
        return Path(named)
    return _DEFAULT_FILE if _DEFAULT_FILE.exists() else None


def _pipeline(settings: Settings, _options: argparse.Namespace) -> int:
    return pipeline.run(settings)


_COMMANDS = {
    "run": run.run,
    "pipeline": _pipeline,
    "gateway": gateway.run,
    "check": check.run,
    "tail": tail.run,
    "key": key.run,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evergrid",
        description="Kafka topics as live, joined tables.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"evergrid {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in (
        ("demo", demo),
        ("run", run),
        ("pipeline", pipeline),
        ("gateway", gateway),
        ("tail", tail),
        ("check", check),
        ("key", key),
    ):
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument(
            "-c", "--config", type=Path, metavar="FILE", help="the configuration file"
        )
        module.add_arguments(command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
