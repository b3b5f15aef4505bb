"""Types of command line arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from evergrid.config.value_types import Value

T = TypeVar("T")


def add_config(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    flags, words = ("-c", "--config"), "the configuration file"
    parser.add_argument(*flags, type=Path, default=default, metavar="FILE", help=words)


def config_value(value: Value[T]) -> Callable[[str], T]:
    """Parses an argument as the configuration parses the same value.

    Errors do not repeat the argument, which may be a secret.
    """

    def parse(text: str) -> T:
        try:
            return value.read(text)
        except ValueError:
            sentence = f"expected {value.expected}. {value.remedy}"
            raise argparse.ArgumentTypeError(sentence) from None

    return parse


def number_between(least: float, most: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        if not least <= (number := float(text)) <= most:
            raise argparse.ArgumentTypeError(f"must be from {least:g} to {most:g}")
        return number

    return parse
