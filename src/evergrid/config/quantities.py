"""Times and amounts of memory: a number and its unit, read and written back."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evergrid.config.value_types import Value

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
NEVER = "never"

_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000}
_BYTES = {"k": 2**10, "m": 2**20, "g": 2**30}


def _spelled(amount: int, units: Mapping[str, int]) -> str:
    """The shortest way to write `amount`."""
    unit = max((u for u, size in units.items() if amount % size == 0), key=units.__getitem__)
    return f"{amount // units[unit]}{unit}" if amount else "0s"


def _quantity(
    units: Mapping[str, int], low: int, high: int, kind: str, example: str, remedy: str
) -> Value[int]:
    pattern = re.compile(rf"(0|[1-9][0-9]{{0,9}})({'|'.join(units)})")

    def read(text: str) -> int:
        match = pattern.fullmatch(text)
        amount = int(match[1]) * units[match[2]] if match else -1
        if not low <= amount <= high:
            raise ValueError
        return amount

    expected = f"{kind} from {_spelled(low, units)} to {_spelled(high, units)}{example}"
    return Value(read, expected, remedy, low, write=lambda amount: _spelled(amount, units))


def duration(low: int, high: int, example: str, units: Mapping[str, int] = SECONDS) -> Value[int]:
    """A time, in seconds."""
    remedy = f"Write a number and one of {', '.join(units)}."
    return _quantity(units, low, high, "a time", f" such as {example}", remedy)


def short_duration(low: int, high: int, example: str) -> Value[int]:
    """A short time, in milliseconds."""
    return duration(low, high, example, _MILLISECONDS)


def in_seconds(kind: Value[int]) -> Value[float]:
    """A short time, in seconds."""
    return Value(
        lambda text: kind.read(text) / 1000,
        kind.expected,
        kind.remedy,
        kind.stand_in / 1000,
        write=lambda seconds: kind.write(round(seconds * 1000)),
    )


def memory(low: int, high: int, units: Mapping[str, int] = _BYTES) -> Value[int]:
    """An amount of memory, in bytes."""
    remedy = "Write a number and m or g such as 512m or 2g."
    return _quantity(units, low, high, "an amount of memory", "", remedy)


_SOME_AGE = duration(1, 36500 * SECONDS["d"], "30s, 15m, 12h or 7d")
AGE: Value[int | None] = Value(
    lambda text: None if text == NEVER else _SOME_AGE.read(text),
    f"{_SOME_AGE.expected}, or {NEVER}",
    f"Write a number and one of s, m, h, d; or {NEVER}.",
    None,
    write=lambda age: NEVER if age is None else _SOME_AGE.write(age),
)

# Spark does not start with less, and takes the text as it is.
_MEGABYTES = memory(512, 2**20, {"m": 1, "g": 1024})
DRIVER_MEMORY = Value(
    lambda text: text if _MEGABYTES.read(text) else "",
    _MEGABYTES.expected,
    "Write a number and m or g such as 2g.",
    "",
)
