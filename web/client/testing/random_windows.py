"""Random windows as frames of the gateway's own code, with the values that they encode.

    python random_windows.py SEED STEPS

One JSON object a line: the frame, and each cell as an exact text.
"""

from __future__ import annotations

import base64
import decimal
import json
import math
import random
import struct
import sys
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from evergrid.gateway.engine.publication import WindowPublication
from evergrid.model.field_types import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    TEXT,
    TIMESTAMP,
    ColumnKind,
    FieldType,
)
from evergrid.model.table import Column, Role
from evergrid.protocol import frames
from evergrid.store.column import arrow_type
from evergrid.store.growing_array import Slots
from evergrid.views.view_query import Window
from evergrid.views.window_difference import difference

TEXTS = ("", " ", "\ufeffmarked", "Łódź", "😀" * 3, "a\0b", "x" * 300, "'a' \"b\"", "\u2028")
NAMES = ("name", "constructor", "__proto__", "toString", "hasOwnProperty", "_offset", "n")
SUB = 7

Rows = dict[int, tuple[object, ...]]


def integer(rng: random.Random) -> int:
    edges = (0, -1, 2**53 - 1, 2**53, 2**53 + 1, -(2**53), 1 - 2**53, 2**63 - 1, -(2**63))
    any_size = rng.randrange(-(2**62), 2**62) >> rng.randrange(62)
    return rng.choice(edges) if rng.random() < 0.3 else any_size


def real(rng: random.Random) -> float:
    edges = (0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308)
    return rng.choice(edges) if rng.random() < 0.3 else rng.uniform(-1e6, 1e6)


def exact(kind: FieldType) -> Callable[[random.Random], decimal.Decimal]:
    def make(rng: random.Random) -> decimal.Decimal:
        units = rng.randrange(10 ** rng.randint(0, kind.precision)) * rng.choice((1, -1))
        return decimal.Decimal(units).scaleb(-kind.scale)

    return make


def maker(kind: FieldType) -> Callable[[random.Random], object]:
    if kind.kind is ColumnKind.DECIMAL:
        return exact(kind)
    return {
        ColumnKind.TEXT: lambda rng: rng.choice(TEXTS) + str(rng.randrange(9)),
        ColumnKind.INTEGER: integer,
        ColumnKind.FLOAT: real,
        ColumnKind.BOOLEAN: lambda rng: rng.random() < 0.5,
        ColumnKind.TIMESTAMP: integer,
    }[kind.kind]


def exact_text(value: object) -> str | bool | None:
    """An exact text, for a reader that knows the column's type."""
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return struct.pack("<d", value).hex()
    return value if value is None or isinstance(value, bool) else str(value)


def random_kind(rng: random.Random) -> FieldType:
    precision = rng.randint(1, 38)
    some = FieldType(ColumnKind.DECIMAL, precision, rng.randint(0, precision))
    large = FieldType(ColumnKind.DECIMAL, 38, 2)
    return rng.choice((TEXT, INTEGER, FLOAT, BOOLEAN, TIMESTAMP, some, large))


class ChangingTable:
    """A table that changes, and a window on it."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sequence = 0
        self.rebuild()

    def rebuild(self) -> None:
        """Another generation, with other columns."""
        names = self.rng.sample(NAMES, self.rng.randint(0, len(NAMES)))
        self.columns = tuple(Column(name, random_kind(self.rng), Role.DATA) for name in names)
        self.makers = [maker(column.type) for column in self.columns]
        self.rows: Rows = {}
        self.order: list[int] = []
        self.next_slot = 0
        self.before: tuple[Slots, Rows, WindowPublication] | None = None
        for _ in range(self.rng.choice((0, 1, 5, 40))):
            self.insert()

    def values(self) -> tuple[object, ...]:
        return tuple(None if self.rng.random() < 0.2 else make(self.rng) for make in self.makers)

    def insert(self) -> None:
        self.rows[self.next_slot] = self.values()
        self.order.insert(self.rng.randint(0, len(self.order)), self.next_slot)
        self.next_slot += 1

    def change(self) -> None:
        for _ in range(self.rng.choice((0, 1, 3, 10))):
            what = self.rng.random()
            if what < 0.3 or not self.order:
                self.insert()
            elif what < 0.5:
                del self.rows[self.order.pop(self.rng.randrange(len(self.order)))]
            elif what < 0.6:
                slot = self.order.pop(self.rng.randrange(len(self.order)))
                self.order.insert(self.rng.randint(0, len(self.order)), slot)
            else:
                self.rows[self.rng.choice(self.order)] = self.values()

    def batch(self, slots: Slots) -> pa.RecordBatch:
        ids = pa.array([f"row:{slot}" for slot in slots], pa.string())
        picked = [self.rows[slot] for slot in slots.tolist()]
        cells = [
            pa.array([row[i] for row in picked], pa.int64()).cast(arrow_type(column.type))
            if column.type.kind is ColumnKind.TIMESTAMP
            else pa.array([row[i] for row in picked], arrow_type(column.type))
            for i, column in enumerate(self.columns)
        ]
        names = [frames.ID_COLUMN, *(column.name for column in self.columns)]
        return pa.RecordBatch.from_arrays([ids, *cells], names)

    def publish(self) -> dict[str, object]:
        """The window as it is now; a difference, if possible."""
        self.sequence += self.rng.randint(1, 1000)
        offset = self.rng.choice((0, 0, 2, len(self.order)))
        slots = np.array(self.order[offset : offset + 20], np.int64)
        change = sent = None
        if self.before is not None and self.rng.random() < 0.8:
            old, were, _ = self.before
            same = np.array([were.get(slot) is self.rows[slot] for slot in slots.tolist()], bool)
            change = difference(old, slots, same)
            sent = self.batch(slots[change.sent])
        header = frames.Header(
            kind=frames.FrameKind.FULL if change is None else frames.FrameKind.DIFFERENCE,
            sequence=self.sequence,
            base=0 if change is None or self.before is None else self.before[2].sequence,
            generation=self.rng.randrange(2**40),
            total=len(self.order),
            offset=offset,
            time=self.rng.randrange(2**52),
            rows=len(slots),
        )
        rows = self.batch(slots)
        most = rows.nbytes
        state = WindowPublication(Window(0, 20), header, self.columns, rows, change, sent, most)
        self.before = (slots, dict(self.rows), state)
        return self.test_vector(slots, header, state.difference or state.full())

    def test_vector(self, slots: Slots, header: frames.Header, shared: bytes) -> dict[str, object]:
        return {
            "frame": base64.b64encode(frames.addressed(SUB, shared)).decode(),
            "full": header.kind is frames.FrameKind.FULL,
            "sequence": header.sequence,
            "total": header.total,
            "offset": header.offset,
            "generation": header.generation,
            "time": header.time,
            "columns": [[column.name, str(column.type.kind.value)] for column in self.columns],
            "ids": [f"row:{slot}" for slot in slots],
            "rows": [[exact_text(value) for value in self.rows[slot]] for slot in slots.tolist()],
        }


def main() -> None:
    decimal.getcontext().prec = 60  # do not round the expected values
    rng = random.Random(int(sys.argv[1]))
    table = ChangingTable(rng)
    for _ in range(int(sys.argv[2])):
        if rng.random() < 0.05:
            table.rebuild()
        table.change()
        print(json.dumps(table.publish()))


if __name__ == "__main__":
    main()
