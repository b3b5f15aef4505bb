"""One field of a message, by its configured type: its value, or why it has none.

Every type is read from the field's text, because the rules do not care whether a
number came with or without quotes. Only two things are asked of the JSON value
itself: whether a time was quoted, and whether Spark kept the number's digits.
"""

from __future__ import annotations

import msgspec
from pyspark.sql import Column
from pyspark.sql import functions as F

from evergrid.model.source import Field
from evergrid.model.types import Kind
from evergrid.pipeline import numerals, times
from evergrid.pipeline.document import regex_literal

_SHOWN = 64  # characters of a bad value that a reason quotes
_NUMBER_AFTER_NAME = "[ \\t\\r\\n]*:[ \\t\\r\\n]*(-?[0-9][0-9.eE+-]*)"


class Reading(msgspec.Struct, frozen=True):
    """A field's value, null where it has none, and the flaw that made it so."""

    value: Column
    flaw: Column


def field_text(document: Column, field: Field) -> Column:
    """The field's characters: a text's own, or the JSON text of anything else."""
    return F.try_variant_get(document, _path(field), "string")


def as_written(document: Column, message: Column, text: Column, field: Field) -> Column:
    """`text`, but a number as the message has it.

    Spark reads a number into a decimal or a double, which forgets how it was written
    (``12.10``) and, for a double, digits too. Where that can matter the number is taken
    from the message instead. The first comparison is cheap and settles most fields.
    """
    numeric = ((text >= "-") & (text < ":")) | (text == "Infinity")
    kind = _json_kind(document, field)
    if field.type.kind is Kind.TEXT:
        forgotten = (kind == "DOUBLE") | kind.startswith("DECIMAL") | (text == "0")
    else:
        forgotten = text.rlike("[.EI]") & (kind == "DOUBLE")
    return F.when(numeric & forgotten, _in_message(document, message, text, field)).otherwise(text)


def read_field(document: Column, text: Column, field: Field) -> Reading:
    """`text` by the field's type."""
    if field.type.kind is Kind.TEXT:
        return Reading(text, F.lit(None).cast("string"))
    if field.type.kind is Kind.BOOLEAN:
        value = F.when(text.isin("true", "false"), text == "true")
        return _reading(field, text, value, F.lit("is not"))
    if field.type.kind is Kind.TIMESTAMP:
        quoted = _json_kind(document, field) == "STRING"
        value = times.to_microseconds(text, quoted, field.type.unit)
        return _reading(field, text, value, F.lit("is not"))
    return _read_number(text, field)


def _read_number(text: Column, field: Field) -> Reading:
    if field.type.kind is Kind.INTEGER:
        beyond = F.when(numerals.is_whole(text), F.lit("is out of range for"))
        value = numerals.to_integer(text)
    elif field.type.kind is Kind.FLOAT:
        beyond = F.when(numerals.is_number(text), F.lit("is out of range for"))
        value = numerals.to_float(text)
    else:
        beyond = F.when(numerals.is_number(text), F.lit("does not fit"))
        exact = numerals.to_decimal(text, field.type.precision, field.type.scale)
        value = exact.cast("string")  # all digits, in JSON and in every client
    return _reading(field, text, value, F.coalesce(beyond, F.lit("is not")))


def _reading(field: Field, text: Column, value: Column, verdict: Column) -> Reading:
    shown = F.when(
        F.length(text) > _SHOWN, F.concat(F.left(text, F.lit(_SHOWN)), F.lit("…"))
    ).otherwise(text)
    flaw = F.concat(
        F.lit(f"{field.from_json}: '"), shown, F.lit("' "), verdict, F.lit(f" {field.type}")
    )
    return Reading(value, F.when(text.isNotNull() & value.isNull(), flaw))


def _path(field: Field) -> str:
    return f'$[0]["{field.from_json}"]'


def _json_kind(document: Column, field: Field) -> Column:
    return F.schema_of_variant(F.try_variant_get(document, _path(field), "variant"))


def _in_message(document: Column, message: Column, text: Column, field: Field) -> Column:
    """The number's own characters: the first after the field's name with the same value."""
    pattern = f'"{regex_literal(field.from_json)}"{_NUMBER_AFTER_NAME}'
    value = F.try_variant_get(document, _path(field), "double")
    written = F.filter(
        F.regexp_extract_all(message, F.lit(pattern), F.lit(1)),
        lambda candidate: candidate.try_cast("double") == value,
    )
    return F.coalesce(F.get(written, F.lit(0)), text)
