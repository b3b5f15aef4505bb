"""The command line: its commands, their options and their help."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from evergrid.cli.arguments import add_config
from evergrid.cli.exit_codes import run_with_exit_code
from evergrid.config import load
from evergrid.model.errors import EvergridError
from evergrid.version import __version__

_EPILOG = """\
The configuration is evergrid.yaml in this directory unless -c or EVERGRID_CONFIG names
another file; without a file, Evergrid runs with its defaults. See docs/configuration.md.
"""
_DEFAULT_FILE = Path("evergrid.yaml")

# A command's module is imported only when it is used: Spark, Arrow and Kafka take a moment.
_COMMANDS = {
    "demo": "run a demo: a Kafka broker, sample events, the joined tables",
    "run": "run pipeline and gateway together",
    "pipeline": "join the source topics and write the changelogs",
    "gateway": "serve the tables live, over WebSocket and HTTP",
    "tail": "print a table's changes as they come",
    "control": "change topics or join types of the running pipeline, or show what runs",
    "check": "check whether this configuration can run here: settings, Java, Kafka, topics",
    "key": "create, rotate, list and remove the keys of a gateway",
    "sessions": "list the open sessions of a running gateway, or end some",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the process's exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    return run_with_exit_code(lambda: _run(given))


def _run(given: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="evergrid",
        description="Kafka topics as live, joined tables.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"evergrid {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chosen = next((argument for argument in given if not argument.startswith("-")), "")
    for name, words in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=words,
            description=words,
            epilog=_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_config(command)
        if name == chosen:
            module = importlib.import_module(f"evergrid.cli.{name}_command")
            if name == "control":
                module.add_arguments(command, _sources(given))
            elif hasattr(module, "add_arguments"):
                module.add_arguments(command)
    options = parser.parse_args(given)
    if options.command == "demo":  # with defaults of its own, whatever is in this directory
        return module.run(options)  # type: ignore[no-any-return]
    return module.run(load(_file(options.config), os.environ), options)  # type: ignore[no-any-return]


def _file(chosen: Path | None) -> Path | None:
    if chosen is not None:
        return chosen
    if named := os.environ.get("EVERGRID_CONFIG"):
        return Path(named)
    return _DEFAULT_FILE if _DEFAULT_FILE.exists() else None


def _sources(given: Sequence[str]) -> tuple[str, ...]:
    """The configured sources, for `control`, which has an option for each.

    `--help` works even if the configuration cannot be read.
    """
    first = argparse.ArgumentParser(prog="evergrid control", add_help=False, allow_abbrev=False)
    add_config(first)
    chosen, rest = first.parse_known_args(given[1:])
    try:
        return tuple(load(_file(chosen.config), os.environ).sources)
    except EvergridError:
        if {"-h", "--help"} & {*rest}:
            return ()
        raise
