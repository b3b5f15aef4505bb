"""`evergrid check`: whether this configuration can run here."""

from __future__ import annotations

import argparse

from evergrid.cli.findings import findings
from evergrid.config import show
from evergrid.config.settings import Settings

HELP = "say whether this configuration can run here: settings, Java, Kafka, topics"


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """It needs nothing but the configuration."""


def run(settings: Settings, _options: argparse.Namespace) -> int:
    print(show(settings), flush=True)
    problems = 0
    for finding in findings(settings):
        problems += not finding.well
        print(f"{'✓' if finding.well else '✗'} {finding.text}", flush=True)
    print()
    if not problems:
        print("All is well: evergrid pipeline can start.")
        return 0
    print(f"{problems} {'problem' if problems == 1 else 'problems'} to solve first.")
    return 1
