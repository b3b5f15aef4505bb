"""What can be typed, and what `--help` says about it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from evergrid.cli import check_command as check
from evergrid.cli import control_command as control
from evergrid.cli import demo_command as demo
from evergrid.cli import gateway_command as gateway
from evergrid.cli import key_command as key
from evergrid.cli import pipeline_command as pipeline
from evergrid.cli import run_command as run
from evergrid.cli import tail_command as tail
from evergrid.cli.exit_codes import politely
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.model.errors import EvergridError
from evergrid.version import __version__

_EPILOG = """\
The configuration is evergrid.yaml in this directory unless -c or EVERGRID_CONFIG names
another; without any, Evergrid runs with its defaults. docs/configuration.md explains it.
"""
_DEMO_EPILOG = """\
It runs with Evergrid's defaults, whatever is in this directory, unless -c names a file; that
must have a source named users or one named accounts, which the sample events are of.
"""

_DEFAULT_FILE = Path("evergrid.yaml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the process's exit code."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    return politely(lambda: _run(typed))


def _run(typed: list[str]) -> int:
    options = _parser(_sources(typed)).parse_args(typed)
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


def _sources(typed: Sequence[str]) -> tuple[str, ...]:
    """The configured sources, where the command has an option for each.

    With a configuration that cannot be read, help is still to be had.
    """
    if typed[:1] != ["control"]:
        return ()
    peek = argparse.ArgumentParser(prog="evergrid control", add_help=False, allow_abbrev=False)
    _add_config(peek)
    chosen, rest = peek.parse_known_args(typed[1:])
    try:
        return tuple(load(_file(chosen.config), os.environ).sources)
    except EvergridError:
        if {"-h", "--help"} & {*rest}:
            return ()
        raise


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--config", type=Path, metavar="FILE", help="the configuration file")


def _pipeline(settings: Settings, _options: argparse.Namespace) -> int:
    return pipeline.run(settings)


_COMMANDS = {
    "run": run.run,
    "pipeline": _pipeline,
    "gateway": gateway.run,
    "check": check.run,
    "tail": tail.run,
    "control": control.run,
    "key": key.run,
}


def _parser(sources: Sequence[str]) -> argparse.ArgumentParser:
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
        ("control", control),
        ("check", check),
        ("key", key),
    ):
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=_DEMO_EPILOG if module is demo else _EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_config(command)
        if module is control:
            control.add_arguments(command, sources)
        else:
            module.add_arguments(command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
