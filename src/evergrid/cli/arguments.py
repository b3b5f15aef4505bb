"""Types of command line arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from evergrid.config.value_types import Value

T = TypeVar("T")


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


def integer_from(least: int, most: int | None = None) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if number < least or (most is not None and number > most):
            expected = f"{least} or more" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"must be {expected}")
        return number

    return parse


def no_arguments(_parser: argparse.ArgumentParser) -> None:
    """For commands that need nothing but the configuration."""
