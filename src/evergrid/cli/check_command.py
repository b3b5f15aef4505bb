"""`evergrid check`: whether this configuration can run here."""

from __future__ import annotations

import argparse

from evergrid.cli.connection_checks import BOTH, Part
from evergrid.cli.findings import findings
from evergrid.config import show
from evergrid.config.settings import Settings

HELP = "say whether this configuration can run here: settings, Java, Kafka, topics"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--for",
        dest="part",
        choices=[part.value for part in Part],
        help="try only what this part needs, with its rights on Kafka (default: both)",
    )


def run(settings: Settings, options: argparse.Namespace) -> int:
    print(show(settings), flush=True)
    problems = 0
    parts = frozenset({Part(options.part)}) if options.part else BOTH
    for finding in findings(settings, parts):
        problems += not finding.well
        print(f"{'✓' if finding.well else '✗'} {finding.text}", flush=True)
    print()
    if not problems:
        print("All is well: this configuration can run here.")
        return 0
    print(f"{problems} {'problem' if problems == 1 else 'problems'} to solve first.")
    return 1
