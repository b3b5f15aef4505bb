"""One message and what must become of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evergrid.testing.oracle.message import Value

# One field of every type, in the shape that a configuration's `fields` section has.
FIELDS: Mapping[str, object] = {
    "id": "text",
    "name": "text",
    "count": "integer",
    "ratio": "float",
    "money": "decimal(10,2)",
    "units": "decimal(5,0)",
    "share": "decimal(2,2)",
    "big": "decimal(38,10)",
    "flag": "boolean",
    "at": "timestamp",
    "at_s": "timestamp(s)",
    "at_us": "timestamp(us)",
    "at_ns": "timestamp(ns)",
    "other_name": {"type": "integer", "from": "other-name"},
}

# Sections of a configuration: the first takes Kafka's time, the second a field's.
EVERY: Mapping[str, object] = {"key": "id", "time": "kafka", "fields": FIELDS}
TIMED: Mapping[str, object] = {"key": "id", "time": "at", "fields": FIELDS}


@dataclass(frozen=True)
class Case:
    """`expected` is the reason for quarantine, or the columns that are not null."""

    name: str
    value: bytes | None
    expected: str | Mapping[str, Value]
    unknown_fields: int = 0
    source: Mapping[str, object] | None = None

    @property
    def section(self) -> Mapping[str, object]:
        """The source's section of a configuration, without a topic and table."""
        return self.source or EVERY

    def columns(self) -> dict[str, Value]:
        """The data columns of the row that this message becomes."""
        assert not isinstance(self.expected, str), f"{self.name} goes to quarantine"
        return {column: self.expected.get(column) for column in FIELDS}


def row(name: str, value: str, unknown_fields: int = 0, /, **expected: Value) -> Case:
    return Case(name, value.encode(), expected, unknown_fields)


def bad(name: str, value: str | bytes | None, reason: str) -> Case:
    return Case(name, value.encode() if isinstance(value, str) else value, reason)
