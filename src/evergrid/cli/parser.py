"""The command line: its commands, their options and their help."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from evergrid.cli import (
    check_command,
    control_command,
    demo_command,
    gateway_command,
    key_command,
    pipeline_command,
    run_command,
    tail_command,
)
from evergrid.cli.exit_codes import run_with_exit_code
from evergrid.config import load
from evergrid.model.errors import EvergridError
from evergrid.version import __version__

_EPILOG = """\
The configuration is evergrid.yaml in this directory unless -c or EVERGRID_CONFIG names
another file; without a file, Evergrid runs with its defaults. See docs/configuration.md.
"""
_DEMO_EPILOG = """\
The demo runs with Evergrid's defaults, whatever is in this directory, unless -c names a file.
That file must have a source named users or accounts, because the sample events are for these.
"""

_DEFAULT_FILE = Path("evergrid.yaml")

_COMMANDS = {
    "demo": demo_command,
    "run": run_command,
    "pipeline": pipeline_command,
    "gateway": gateway_command,
    "tail": tail_command,
    "control": control_command,
    "check": check_command,
    "key": key_command,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the process's exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    return run_with_exit_code(lambda: _run(given))


def _run(given: list[str]) -> int:
    options = _parser(_sources(given)).parse_args(given)
    command = _COMMANDS[options.command]
    if command is demo_command:
        return demo_command.run(options)
    return command.run(load(_file(options.config), os.environ), options)  # type: ignore[no-any-return]


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
    if given[:1] != ["control"]:
        return ()
    first = argparse.ArgumentParser(prog="evergrid control", add_help=False, allow_abbrev=False)
    _add_config(first)
    chosen, rest = first.parse_known_args(given[1:])
    try:
        return tuple(load(_file(chosen.config), os.environ).sources)
    except EvergridError:
        if {"-h", "--help"} & {*rest}:
            return ()
        raise


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--config", type=Path, metavar="FILE", help="the configuration file")


def _parser(sources: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evergrid",
        description="Kafka topics as live, joined tables.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"evergrid {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=_DEMO_EPILOG if module is demo_command else _EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_config(command)
        if module is control_command:
            control_command.add_arguments(command, sources)
        else:
            module.add_arguments(command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
