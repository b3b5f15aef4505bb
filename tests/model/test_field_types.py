"""Field types are parsed from their spelling, and spelled the same way again."""

from __future__ import annotations

import pytest

from evergrid.model.field_types import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    TEXT,
    TIMESTAMP,
    ColumnKind,
    FieldType,
    TimeUnit,
    parse_type,
)


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("text", TEXT),
        ("integer", INTEGER),
        ("float", FLOAT),
        ("boolean", BOOLEAN),
        ("timestamp", TIMESTAMP),
        ("timestamp(ns)", FieldType(ColumnKind.TIMESTAMP, unit=TimeUnit.NANOSECONDS)),
        ("decimal(38,0)", FieldType(ColumnKind.DECIMAL, precision=38)),
        ("decimal( 12 , 2 )", FieldType(ColumnKind.DECIMAL, precision=12, scale=2)),
    ],
)
def test_a_spelling_names_a_type(spelling: str, expected: FieldType) -> None:
    assert parse_type(spelling) == expected
    assert parse_type(str(expected)) == expected


@pytest.mark.parametrize(
    "spelling",
    ["", "Text", "string", "decimal", "decimal(39,0)", "decimal(0,0)", "decimal(2,3)",
     "timestamp(m)", "timestamp()", "integer "],
)  # fmt: skip
def test_another_spelling_names_none(spelling: str) -> None:
    assert parse_type(spelling) is None
