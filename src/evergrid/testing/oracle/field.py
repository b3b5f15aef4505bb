"""One field's value: from a part of a message to what its column shows."""

from __future__ import annotations

import datetime
import math
import re
from functools import cache

from evergrid.testing.oracle.message import JsonText, Value
from evergrid.testing.oracle.number import Number, number_in
from evergrid.testing.oracle.strict import JsonKind, Part

NUMERIC = ("integer", "float", "decimal")

_SHOWN_CHARACTERS = 64
_NESTED = (JsonKind.OBJECT, JsonKind.ARRAY)
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_MICROSECOND_PLACES = {"s": 6, "ms": 3, "us": 0, "ns": -3}
_EARLIEST = -62_135_596_800_000_000  # 0001-01-01T00:00:00.000000Z
_LATEST = 253_402_300_799_999_999  # 9999-12-31T23:59:59.999999Z
_ISO = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2})"
    r":([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)"
)


class Unfit(Exception):
    """The value is not of the field's type; the message goes on after the value shown."""


def is_numeric(spelling: str) -> bool:
    return spelling.startswith(NUMERIC)


def value_of(part: Part, spelling: str) -> Value:
    """What a column of type `spelling` shows for `part`; raises Unfit."""
    if part.kind is JsonKind.NULL:
        return None
    if spelling == "text":
        return JsonText(part.characters) if part.kind in _NESTED else part.characters
    if spelling == "integer":
        return _integer(part)
    if spelling == "float":
        return _float(part)
    if spelling == "boolean":
        return _boolean(part)
    if spelling.startswith("timestamp"):
        return _timestamp(part, spelling)
    return _decimal(part, spelling)


def shown(part: Part) -> str:
    """The value as a reason quotes it."""
    text = part.characters
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _number(part: Part, spelling: str) -> Number:
    number = number_in(part.characters) if part.kind in (JsonKind.NUMBER, JsonKind.TEXT) else None
    if number is None:
        raise Unfit(f"is not {spelling}")
    return number


def _integer(part: Part) -> int:
    number = _number(part, "integer")
    if not number.is_whole:
        raise Unfit("is not integer")
    if number.integer_digits > 19 or not -(2**63) <= number.floor() < 2**63:
        raise Unfit("is out of range for integer")
    return number.floor()


def _float(part: Part) -> float:
    _number(part, "float")
    nearest = float(part.characters)
    if math.isinf(nearest):
        raise Unfit("is out of range for float")
    return nearest


def _decimal(part: Part, spelling: str) -> str:
    number = _number(part, spelling)
    precision, scale = _precision_and_scale(spelling)
    if number.fraction_digits > scale or number.integer_digits > precision - scale:
        raise Unfit(f"does not fit {spelling}")
    units = number.times_ten_to(scale)
    digits = str(abs(units.floor())).rjust(scale + 1, "0")
    sign = "-" if number.negative else ""
    return sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)


@cache
def _precision_and_scale(spelling: str) -> tuple[int, int]:
    match = _DECIMAL.fullmatch(spelling)
    assert match is not None, f"unknown type {spelling}"
    return int(match[1]), int(match[2])


def _boolean(part: Part) -> bool:
    if part.kind in (JsonKind.BOOLEAN, JsonKind.TEXT) and part.characters in ("true", "false"):
        return part.characters == "true"
    raise Unfit("is not boolean")


def _timestamp(part: Part, spelling: str) -> int:
    microseconds = None
    if part.kind is JsonKind.TEXT:
        microseconds = _iso(part.characters)
    elif part.kind is JsonKind.NUMBER:
        microseconds = _epoch(part.characters, spelling)
    if microseconds is None or not _EARLIEST <= microseconds <= _LATEST:
        raise Unfit(f"is not {spelling}")
    return microseconds


def _epoch(text: str, spelling: str) -> int | None:
    number = number_in(text)
    assert number is not None
    unit = spelling.removeprefix("timestamp(").removesuffix(")")
    microseconds = number.times_ten_to(_MICROSECOND_PLACES[unit])
    return None if microseconds.integer_digits > 18 else microseconds.floor()


def _iso(text: str) -> int | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(group or 0) for group in match.groups()[:6])
    days = _days(year, month, day)
    offset = _offset_minutes(match[8], int(match[9] or 0), int(match[10] or 0))
    if days is None or offset is None or hour > 23 or minute > 59 or second > 59:
        return None
    seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
    return seconds * 1_000_000 + int((match[7] or "").ljust(6, "0")[:6])


def _offset_minutes(sign: str | None, hours: int, minutes: int) -> int | None:
    if minutes > 59 or hours * 60 + minutes > 18 * 60:
        return None
    return (hours * 60 + minutes) * (-1 if sign == "-" else 1)


def _days(year: int, month: int, day: int) -> int | None:
    """Days since 1970-01-01, or None for a date that no calendar has.

    The year 0000 can become 0001 by its offset; Python's calendar begins later, but the
    calendar repeats after 400 years, which have 146,097 days.
    """
    try:
        date = datetime.date(year or 400, month, day)
    except ValueError:
        return None
    return (date - datetime.date(1970, 1, 1)).days - (0 if year else 146_097)
