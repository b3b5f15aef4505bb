"""From a message's bytes to one JSON object, or to the reason why there is none.

Spark's JSON functions forgive: they stop reading after the first value, take single
quotes or ``NaN``, let the last of two equal names win. ``try_parse_json`` is strict in
all but one thing, what follows the value; so it is given the message inside an array,
followed by the message's own hash. Only a message that is one whole JSON value leaves
that hash as the array's second element.

Everything past the first check runs only for the few messages that failed it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from evergrid.config.settings import Limits

_WHITE = "[ \\t\\r\\n]*"
_NOT_A_NUMBER = "(NaN|-?Infinity)"
_SURROGATE = "\\\\u[dD][89a-fA-F]"
_STRICT = {
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
    "allowUnquotedControlChars": "false",
}


def envelope_flaw(value: Column, text: Column, limits: Limits) -> Column:
    """Why the bytes cannot be looked into at all; null when they can."""
    size = F.length(value)
    return (
        F.when(value.isNull(), F.lit("tombstone"))
        .when(size == 0, F.lit("empty value"))
        .when(
            size > limits.message_bytes,
            F.concat(F.lit("too large: "), size, F.lit(f" bytes, limit {limits.message_bytes}")),
        )
        .when(~F.is_valid_utf8(text), F.lit("not valid UTF-8"))
        .when(
            _nested_deeper_than(text, limits.nesting),
            F.lit(f"nested deeper than {limits.nesting} levels"),
        )
    )


def sealed(text: Column) -> Column:
    """The message parsed strictly inside an array, sealed by its hash; null when broken."""
    return F.try_parse_json(F.concat(F.lit("["), text, F.lit(","), F.xxhash64(text), F.lit("]")))


def is_one_value(document: Column, text: Column) -> Column:
    """Whether the message is one whole JSON value with nothing after it."""
    seal = F.try_variant_get(document, "$[1]", "bigint")
    return F.coalesce(seal == F.xxhash64(text), F.lit(False))


def is_object(text: Column) -> Column:
    """Whether a message that is one whole JSON value is an object."""
    return F.ltrim(text, F.lit(" \t\r\n")).startswith("{")


def document_flaw(
    document: Column, text: Column, numeric_fields: Sequence[tuple[str, str]]
) -> Column:
    """Why `text` is not one JSON object, in words for whoever sent it; null when it is."""
    return F.when(
        is_one_value(document, text),
        F.when(~is_object(text), F.concat(F.lit("not a JSON object but "), _kind(document))),
    ).otherwise(
        F.coalesce(
            _bare_not_a_number(text, numeric_fields), _repeated_name(text), F.lit("not valid JSON")
        )
    )


def _kind(document: Column) -> Column:
    kind = F.schema_of_variant(F.try_variant_get(document, "$[0]", "variant"))
    return (
        F.when(kind.startswith("ARRAY"), F.lit("an array"))
        .when(kind == "STRING", F.lit("a text"))
        .when(kind == "BOOLEAN", F.lit("a boolean"))
        .when(kind == "VOID", F.lit("null"))
        .otherwise(F.lit("a number"))
    )


def _nested_deeper_than(text: Column, limit: int) -> Column:
    """Counts brackets outside strings, but only in texts that have enough of them.

    Escapes go first, so that every string can be cut out by a pattern that cannot
    recurse: a backtracking one would overflow the stack on a hostile message.
    """
    many_brackets = text.rlike(f"^(?:[^\\[{{]*+[\\[{{]){{{limit + 1}}}")
    unescaped = F.replace(F.replace(text, F.lit("\\\\")), F.lit('\\"'))
    skeleton = F.regexp_replace(F.regexp_replace(unescaped, '"[^"]*"', ""), "[^\\[\\]{}]", "")
    start = F.struct(F.lit(0).alias("now"), F.lit(0).alias("most"))

    def step(depth: Column, bracket: Column) -> Column:
        now = F.when(bracket.isin("[", "{"), depth["now"] + 1).otherwise(
            F.greatest(depth["now"] - 1, F.lit(0))
        )
        return F.struct(now.alias("now"), F.greatest(depth["most"], now).alias("most"))

    depth = F.aggregate(F.split(skeleton, ""), start, step, lambda depth: depth["most"])
    return many_brackets & (depth > limit)


def _bare_not_a_number(text: Column, numeric_fields: Sequence[tuple[str, str]]) -> Column:
    """Names the number fields that hold a bare NaN or Infinity, if nothing else is wrong."""
    healed = F.regexp_replace(text, f":{_WHITE}{_NOT_A_NUMBER}", ":null")
    parts = []
    for name, type_name in numeric_fields:
        found = F.regexp_extract(
            text, f'"{regex_literal(name)}"{_WHITE}:{_WHITE}{_NOT_A_NUMBER}', 1
        )
        parts.append(
            F.when(
                found != "", F.concat(F.lit(f"{name}: '"), found, F.lit(f"' is not {type_name}"))
            )
        )
    reason = F.concat_ws("; ", *parts) if parts else F.lit("")
    return F.when((reason != "") & is_one_value(sealed(healed), healed), reason)


def _repeated_name(text: Column) -> Column:
    """Which name stands twice, in a text that a parser who lets that pass finds whole."""
    names = F.json_object_keys(text)
    repeated = F.filter(names, lambda name, index: F.array_position(names, name) <= index)
    first = F.get(repeated, F.lit(0))
    whole = F.from_json(text, "map<string,string>", _STRICT).isNotNull()
    only_repeats = whole & F.try_parse_json(text).isNull() & ~text.rlike(_SURROGATE)
    return F.when(
        only_repeats,
        F.when(first.isNotNull(), F.concat(F.lit("duplicate field name: "), first)).otherwise(
            F.lit("duplicate field name in a nested object")
        ),
    )


def regex_literal(name: str) -> str:
    """`name` as a Java pattern that matches just it."""
    return "\\Q" + name + "\\E"
