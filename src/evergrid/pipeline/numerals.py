"""Numbers as they are written, and what can be told from the text alone.

A number reaches Evergrid as text, whether the message had ``12.50`` or ``"12.50"``.
Spark's casts round and accept more than JSON does, so the questions that decide
between a row and quarantine (is it a number, does it fit) are asked of the text.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z"
_SHORT_INTEGER = r"^-?(0|[1-9][0-9]{0,17})\z"
_ZERO = r"^-?0(\.0+)?([eE][+-]?[0-9]+)?\z"
_PARTS = r"^-?([0-9]+)\.?([0-9]*)[eE]?([+-]?[0-9]*)\z"
_FAR = 10**15  # an exponent so large that no number type has it
_LARGEST_DECIMAL = "decimal(38,0)"


def is_number(text: Column) -> Column:
    """Whether `text` is exactly a JSON number, with nothing around it."""
    return text.rlike(_NUMBER)


def fraction_digits(text: Column) -> Column:
    """How many digits after the point the number really has: 0 for 3.0 and 1e2, 3 for 1.25e-1."""
    whole = F.regexp_extract(text, _PARTS, 1)
    fraction = F.regexp_extract(text, _PARTS, 2)
    exponent = F.regexp_extract(text, _PARTS, 3)
    absurd = F.when(exponent.startswith("-"), -_FAR).otherwise(_FAR)
    shift = F.when(exponent == "", 0).otherwise(F.coalesce(exponent.try_cast("bigint"), absurd))
    digits = F.rtrim(F.concat(whole, fraction), F.lit("0"))
    needed = F.length(digits) - F.length(whole) - shift
    return F.when(digits == "", F.lit(0)).otherwise(F.greatest(needed, F.lit(0)))


def is_zero(text: Column) -> Column:
    """Whether the number is zero, whatever its exponent."""
    return text.rlike(_ZERO)


def is_whole(text: Column) -> Column:
    """Whether `text` is a number without a fraction, however it is written."""
    return is_number(text) & (fraction_digits(text) == 0)


def to_integer(text: Column) -> Column:
    """The 64-bit integer that `text` is exactly; null for anything else."""
    return (
        F.when(text.rlike(_SHORT_INTEGER), text.try_cast("bigint"))
        .when(is_zero(text), F.lit(0).cast("bigint"))
        .when(is_whole(text), text.try_cast(_LARGEST_DECIMAL).try_cast("bigint"))
    )


def to_float(text: Column) -> Column:
    """The double nearest to `text`; null when it is no number or beyond any double."""
    value = F.when(is_number(text), text.try_cast("double"))
    return F.when(F.abs(value) < F.lit(float("inf")), value)


def to_decimal(text: Column, precision: int, scale: int) -> Column:
    """`text` as a decimal that holds it exactly; null when digits would be lost."""
    fraction = rf"(\.[0-9]{{1,{scale}}})?" if scale else ""
    plainly_fits = text.rlike(rf"^-?(0|[1-9][0-9]*){fraction}\z")
    fits = plainly_fits | (is_number(text) & (fraction_digits(text) <= scale))
    exact = f"decimal({precision},{scale})"
    return F.when(is_zero(text), F.lit(0).cast(exact)).when(fits, text.try_cast(exact))
