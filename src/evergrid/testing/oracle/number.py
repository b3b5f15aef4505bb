"""Numbers exactly as written, however long; no binary arithmetic rounds them on the way."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")

# No message is long enough for its digits to make up for an exponent beyond this.
_FAR = 10**15


@dataclass(frozen=True)
class Number:
    """``digits * 10^exponent``; `digits` begin and end with no 0, and are empty for zero."""

    negative: bool
    digits: str
    exponent: int

    @property
    def is_whole(self) -> bool:
        return self.exponent >= 0

    @property
    def integer_digits(self) -> int:
        """How many digits stand before the point; 0 for numbers below one."""
        return max(0, len(self.digits) + self.exponent)

    @property
    def fraction_digits(self) -> int:
        return max(0, -self.exponent)

    def times_ten_to(self, places: int) -> Number:
        return Number(self.negative, self.digits, self.exponent + places) if self.digits else self

    def floor(self) -> int:
        """The greatest integer not above; ask for `integer_digits` first."""
        if self.is_whole:
            size = int((self.digits or "0") + "0" * self.exponent)
            return -size if self.negative else size
        size = int(self.digits[: self.integer_digits] or "0")
        return -size - 1 if self.negative else size


def number_in(text: str) -> Number | None:
    """The number that `text` is, by JSON's grammar and with nothing around it."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups(default="")
    written = (whole + fraction).lstrip("0")
    digits = written.rstrip("0")
    if not digits:
        return Number(False, "", 0)
    dropped = len(written) - len(digits)
    return Number(sign == "-", digits, _exponent(exponent) - len(fraction) + dropped)


def _exponent(text: str) -> int:
    digits = text.lstrip("+-").lstrip("0")
    size = _FAR if len(digits) > 15 else int(digits or "0")
    return -size if text.startswith("-") else size
