"""Converts the values of a filter exactly to those that columns hold; errors say why not."""

from __future__ import annotations

import datetime
import decimal
import math

from evergrid.model.field_types import ColumnKind, FieldType
from evergrid.views.view_query import Fault, QueryError, Scalar

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)
_LONGEST_NUMBER = 100
_EXACT = decimal.Context(prec=_LONGEST_NUMBER + 40, Emax=10_000, Emin=-10_000)

Number = int | float | decimal.Decimal


def text_value(value: Scalar, column: str) -> str:
    if isinstance(value, str) and is_text(value):
        return value
    raise _bad(value, column, "a text")


def is_text(value: str) -> bool:
    """Whether it is valid text: half of a surrogate pair is not."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def boolean_value(value: Scalar, column: str) -> bool:
    if isinstance(value, bool):
        return value
    raise _bad(value, column, "true or false")


def number_value(value: Scalar, field: FieldType, column: str) -> Number:
    """A number that compares with what the column holds: unscaled for decimals, microseconds
    for timestamps. It need not be one that the column could hold."""
    expected = _EXPECTED[field.kind]
    if isinstance(value, bool) or value is None:
        raise _bad(value, column, expected)
    if field.kind is ColumnKind.TIMESTAMP:
        return _moment(value, column)
    number = _written(value)
    if number is not None and field.kind is ColumnKind.FLOAT:
        if math.isfinite(nearest := float(number)):
            return nearest
    elif number is not None and abs(number.adjusted()) <= _LONGEST_NUMBER:
        return number.scaleb(field.scale, _EXACT)
    raise _bad(value, column, expected)


_EXPECTED = {
    ColumnKind.INTEGER: "a whole number (as a text when it has more than 15 digits)",
    ColumnKind.FLOAT: "a number",
    ColumnKind.DECIMAL: "a number (as a text to be exact)",
    ColumnKind.TIMESTAMP: "a time as 2026-01-31T12:00:00Z or microseconds since 1970",
}


def _written(value: str | int | float) -> decimal.Decimal | None:
    """The exact number as written, of any size; None if it is none, or too long."""
    try:
        number = _EXACT.create_decimal(str(value)) if len(str(value)) <= _LONGEST_NUMBER else None
    except (decimal.DecimalException, ValueError):
        return None
    return number if number is not None and number.is_finite() else None


def _moment(value: str | int | float, column: str) -> Number:
    if isinstance(value, int):
        return value
    try:
        moment = datetime.datetime.fromisoformat(str(value))
    except ValueError:
        raise _bad(value, column, _EXPECTED[ColumnKind.TIMESTAMP]) from None
    if moment.tzinfo is None:
        raise _bad(value, column, "a time with its zone, as 2026-01-31T12:00:00Z")
    return (moment - _EPOCH) // _MICROSECOND


def _bad(value: object, column: str, expected: str) -> QueryError:
    shown = str(value)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    return QueryError(
        Fault.BAD_VALUE,
        f"{type(value).__name__ if value is not None else 'null'} {shown!r} is not {expected}",
        where=f"column {column}",
    )
