"""One field's value: from a part of a message to what its column shows."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass

from evergrid.testing.oracle.strict import JsonKind, Part

Value = str | int | float | bool | None

NUMERIC = ("integer", "float", "decimal")

_SHOWN_CHARACTERS = 64
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_FAR = 10**15  # no message is long enough for its digits to make up for such an exponent
_MICROSECOND_PLACES = {"s": 6, "ms": 3, "us": 0, "ns": -3}
_EARLIEST = -62_135_596_800_000_000  # 0001-01-01T00:00:00.000000Z
_LATEST = 253_402_300_799_999_999  # 9999-12-31T23:59:59.999999Z
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_ISO = re.compile(  # with an offset of at most 18 hours
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
    r"(?:Z|[+-](?:(?:0[0-9]|1[0-7])(?::?[0-5][0-9])?|18(?::?00)?))"
)


class JsonText(str):
    """An object or array in a text column: its JSON text, however it is spaced and ordered."""


class Unfit(Exception):
    """The value is not of the field's type; the message goes on after the value shown."""


def value_of(part: Part, spelling: str) -> Value:
    """What a column of type `spelling` shows for `part`; raises Unfit."""
    if part.kind is JsonKind.NULL:
        return None
    if spelling == "text":
        nested = part.kind in (JsonKind.OBJECT, JsonKind.ARRAY)
        return JsonText(part.characters) if nested else part.characters
    if spelling == "boolean":
        if part.kind in (JsonKind.BOOLEAN, JsonKind.TEXT) and part.characters in ("true", "false"):
            return part.characters == "true"
        raise Unfit("is not boolean")
    if spelling.startswith("timestamp"):
        return _timestamp(part, spelling)
    number = number_in(part.characters) if part.kind in (JsonKind.NUMBER, JsonKind.TEXT) else None
    if number is None:
        raise Unfit(f"is not {spelling}")
    if spelling == "integer":
        return _integer(number)
    if spelling == "float":
        return _float(part.characters)
    return _decimal(number, spelling)


def shown(part: Part) -> str:
    """The value as a reason quotes it."""
    text = part.characters
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


@dataclass(frozen=True)
class Number:
    """``digits * 10^exponent``, exactly as written, however long.

    `digits` begin and end with no 0, and are empty for zero.
    """

    negative: bool
    digits: str
    exponent: int

    @property
    def integer_digits(self) -> int:
        """How many digits stand before the point; 0 for numbers below one."""
        return max(0, len(self.digits) + self.exponent)

    def times_ten_to(self, places: int) -> Number:
        return Number(self.negative, self.digits, self.exponent + places) if self.digits else self

    def floor(self) -> int:
        """The greatest integer not above; ask for `integer_digits` first."""
        if self.exponent >= 0:
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


def _integer(number: Number) -> int:
    if number.exponent < 0:
        raise Unfit("is not integer")
    if number.integer_digits > 19 or not -(2**63) <= number.floor() < 2**63:
        raise Unfit("is out of range for integer")
    return number.floor()


def _float(text: str) -> float:
    nearest = float(text)
    if math.isinf(nearest):
        raise Unfit("is out of range for float")
    return nearest


def _decimal(number: Number, spelling: str) -> str:
    precision, scale = map(int, spelling.removeprefix("decimal(").removesuffix(")").split(","))
    if -number.exponent > scale or number.integer_digits > precision - scale:
        raise Unfit(f"does not fit {spelling}")
    digits = str(abs(number.times_ten_to(scale).floor())).rjust(scale + 1, "0")
    sign = "-" if number.negative else ""
    return sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)


def _timestamp(part: Part, spelling: str) -> int:
    microseconds = None
    if part.kind is JsonKind.TEXT:
        microseconds = _iso(part.characters)
    elif part.kind is JsonKind.NUMBER:
        number = number_in(part.characters)
        assert number is not None
        unit = spelling.removeprefix("timestamp(").removesuffix(")")
        number = number.times_ten_to(_MICROSECOND_PLACES[unit])
        microseconds = number.floor() if number.integer_digits <= 18 else None
    if microseconds is None or not _EARLIEST <= microseconds <= _LATEST:
        raise Unfit(f"is not {spelling}")
    return microseconds


def _iso(text: str) -> int | None:
    """Microseconds since 1970, or None for a date that no calendar has.

    The year 0000 can become 0001 by its offset; Python's calendar begins later, but the
    calendar repeats after 400 years, which have 146,097 days.
    """
    if _ISO.fullmatch(text) is None:
        return None
    year_0 = text.startswith("0000")
    try:
        moment = datetime.datetime.fromisoformat("0400" + text[4:] if year_0 else text)
    except ValueError:
        return None
    since = moment - _EPOCH - datetime.timedelta(days=146_097 if year_0 else 0)
    return since // datetime.timedelta(microseconds=1)
