"""Amounts of memory and short times: how they are written, in both directions."""

from __future__ import annotations

import re

from evergrid.config.values import Value

BYTES = {"k": 2**10, "m": 2**20, "g": 2**30}
MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000}

_BYTES = re.compile(r"([1-9][0-9]{0,9})([kmg])")
_MOMENT = re.compile(r"(0|[1-9][0-9]{0,9})(ms|s|m)")


def spell_bytes(size: int) -> str:
    """The shortest way to write an amount that `memory` has read."""
    return _spelled(size, BYTES)


def spell_moment(milliseconds: int) -> str:
    """The shortest way to write a short time."""
    return _spelled(milliseconds, MILLISECONDS) if milliseconds else "0s"


def _spelled(amount: int, units: dict[str, int]) -> str:
    unit = max((u for u, size in units.items() if amount % size == 0), key=units.__getitem__)
    return f"{amount // units[unit]}{unit}"


def memory(low: int, high: int) -> Value[int]:
    """An amount of memory, in bytes."""

    def read(text: str) -> int:
        match = _BYTES.fullmatch(text)
        size = int(match[1]) * BYTES[match[2]] if match else 0
        if not low <= size <= high:
            raise ValueError
        return size

    expected = f"an amount of memory from {spell_bytes(low)} to {spell_bytes(high)}"
    return Value(read, expected, "Write a number and m or g such as 512m or 2g.", low)


def moment(low: int, high: int, example: str) -> Value[int]:
    """A short time, in milliseconds."""

    def read(text: str) -> int:
        match = _MOMENT.fullmatch(text)
        time = int(match[1]) * MILLISECONDS[match[2]] if match else -1
        if not low <= time <= high:
            raise ValueError
        return time

    expected = f"a time from {spell_moment(low)} to {spell_moment(high)} such as {example}"
    return Value(read, expected, "Write a number and one of ms, s, m.", low)
