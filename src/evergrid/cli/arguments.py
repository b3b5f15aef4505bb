"""Arguments read as the configuration reads the same values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from evergrid.config.values import Value

T = TypeVar("T")


def reader(value: Value[T]) -> Callable[[str], T]:
    """Reads an argument as the configuration would; never repeats it, it may be a secret."""

    def read(text: str) -> T:
        try:
            return value.read(text)
        except ValueError:
            sentence = f"expected {value.expected}. {value.remedy}"
            raise argparse.ArgumentTypeError(sentence) from None

    return read
