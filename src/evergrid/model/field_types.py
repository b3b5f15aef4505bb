"""The types of fields, as they are written in the configuration.

Each type has one exact meaning in JSON, Spark, Arrow and the browser. A ``timestamp`` is in
microseconds and UTC once it is parsed; its unit says how to parse an epoch *number* on the
source topic.
"""

from __future__ import annotations

import enum
import re

import msgspec

MAX_DECIMAL_PRECISION = 38


class ColumnKind(enum.Enum):
    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"


class TimeUnit(enum.Enum):
    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"


class FieldType(msgspec.Struct, frozen=True, omit_defaults=True):
    """One type with its parameters; ``str()`` gives the spelling of the configuration."""

    kind: ColumnKind
    precision: int = 0
    scale: int = 0
    unit: TimeUnit = TimeUnit.MILLISECONDS

    def __str__(self) -> str:
        if self.kind is ColumnKind.DECIMAL:
            return f"decimal({self.precision},{self.scale})"
        if self.kind is ColumnKind.TIMESTAMP:
            return f"timestamp({self.unit.value})"
        return str(self.kind.value)


TEXT = FieldType(ColumnKind.TEXT)
INTEGER = FieldType(ColumnKind.INTEGER)
FLOAT = FieldType(ColumnKind.FLOAT)
BOOLEAN = FieldType(ColumnKind.BOOLEAN)
TIMESTAMP = FieldType(ColumnKind.TIMESTAMP)

SPELLINGS = "text, integer, float, decimal(P,S), boolean, timestamp, timestamp(s|ms|us|ns)"

_PLAIN = {str(simple): simple for simple in (TEXT, INTEGER, FLOAT, BOOLEAN)} | {
    "timestamp": TIMESTAMP
}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_TIMESTAMP = re.compile(r"timestamp\(\s*(s|ms|us|ns)\s*\)")


def parse_type(spelling: str) -> FieldType | None:
    """The type with this spelling, or None if there is none."""
    if spelling in _PLAIN:
        return _PLAIN[spelling]
    if match := _DECIMAL.fullmatch(spelling):
        precision, scale = int(match[1]), int(match[2])
        if 1 <= precision <= MAX_DECIMAL_PRECISION and scale <= precision:
            return FieldType(ColumnKind.DECIMAL, precision=precision, scale=scale)
    if match := _TIMESTAMP.fullmatch(spelling):
        return FieldType(ColumnKind.TIMESTAMP, unit=TimeUnit(match[1]))
    return None
