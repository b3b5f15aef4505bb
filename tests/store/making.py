"""Random tables' rows and questions, with every type at its ends and every kind of tie."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pytest

from evergrid.gateway.engine import export
from evergrid.model.field_types import ColumnKind, FieldType, parse_type
from evergrid.model.table import Column, Retention, Table
from evergrid.store import growing_array as growing
from evergrid.store import ordered_rows as ordered
from evergrid.store import row_index as index
from evergrid.store import table_store as table
from evergrid.store import text_pool as pool
from evergrid.store.column import arrow_type
from evergrid.store.growing_array import Slots
from evergrid.store.table_store import TableStore
from evergrid.views import view
from evergrid.views.view_query import Filter, Nulls, Op, OrderBy, Query, Scalar, Window
from tests.support.naive_table import Row, Value

PARTITIONS = 2
OFFSETS = 30
TOPICS = ("users", "accounts", "a.b-c_d")
HIGHEST, LOWEST = 2**63 - 1, -(2**63)
LONG = "x" * 24

TEXTS = [
    *(
        "",
        "a",
        "b",
        "ab",
        "A",
        "Ab",
        "é",
        "É",
        "Zoë",
        "zoË",
        "two words",
        "%_",
        "𝄞",
        "𝄞a",
        "\uffff",
    ),
    *("\0", "a\0", "a\0b", "a\0\0", LONG, LONG + "\0", LONG + "x", LONG + "xa", LONG + "xb"),
    *(LONG[1:], LONG[1:] + "é", LONG + "y" * 200, LONG + "y" * 200 + "z"),
]
INTEGERS = [0, 1, -1, 2, 5, HIGHEST, HIGHEST - 1, LOWEST, LOWEST + 1, 2**53 + 1, -(2**53) - 1]
FLOATS = [0.0, -0.0, 1.5, -1.5, 1e300, -1e300, 5e-324, 0.1, float("inf"), float("-inf")]
MONEY = [Decimal(f"{number}E-2") for number in (0, 1, -1, 1250, 10**18 - 1, 1 - 10**18)]
WIDE = [
    Decimal(f"{number}E-10")
    for number in (0, 1, -1, 2**64, -(2**64), 2**63, 2**64 - 1, 10**38 - 1, 1 - 10**38, -75 * 10**9)
]
MOMENTS = [0, -1, 1, -62_135_596_800_000_000, 253_402_300_799_999_999, 1_767_225_600_123_456]

_DATA = {
    "text": "text",
    "note": "text",
    "count": "integer",
    "size": "float",
    "flag": "boolean",
    "money": "decimal(18,2)",
    "wide": "decimal(38,10)",
    "at": "timestamp(us)",
}


def _type(spelling: str) -> FieldType:
    found = parse_type(spelling)
    assert found is not None
    return found


def made_table(
    *, topics: bool = False, version: bool = True, retention: Retention | None = None
) -> Table:
    """All types; with the topic in its ids, as quarantine has it, or without."""
    columns = [Column(name, _type(spelling)) for name, spelling in _DATA.items()]
    columns += [Column(name, _type("integer")) for name in ("version", "partition", "offset")]
    columns += [Column("ts", _type("timestamp(us)")), Column("topic", _type("text"))]
    own = ("topic",) if topics else ()
    return Table(
        name="made",
        columns=tuple(columns),
        row_id=(*own, "partition", "offset"),
        order=("ts", *own, "partition", "offset"),
        version=("version",) if version else (),
        retention=retention or Retention(),
    )


def random_value(rng: random.Random, kind: FieldType) -> Value:
    if rng.random() < 0.15:
        return None
    if kind.kind is ColumnKind.DECIMAL:
        return rng.choice(MONEY if kind.precision == 18 else WIDE)
    if kind.kind is ColumnKind.BOOLEAN:
        return rng.random() < 0.5
    return rng.choice(_POOLS[kind.kind])


_POOLS: dict[ColumnKind, Sequence[Value]] = {
    ColumnKind.TEXT: TEXTS,
    ColumnKind.INTEGER: INTEGERS,
    ColumnKind.FLOAT: FLOATS,
    ColumnKind.TIMESTAMP: MOMENTS,
}


def random_row(rng: random.Random, made: Table) -> dict[str, Value]:
    """A row of few possible ids, so that many are known already."""
    types = {column.name: column.type for column in made.columns}
    return {name: random_value(rng, types[name]) for name in _DATA} | {
        "version": rng.choice([None, 1, 2, 3]),
        "partition": rng.randrange(PARTITIONS),
        "offset": rng.randrange(OFFSETS),
        "ts": rng.randrange(-8, 8) * 1_000_000,
        "topic": rng.choice(TOPICS),
    }


def random_id(rng: random.Random, made: Table) -> str:
    """Of a row that may be there; now and then of none that could."""
    if rng.random() < 0.1:
        return rng.choice(["", ":", "x:y", "1", "--1:2", "9" * 30 + ":1", "1:2:3:4", "nowhere:0:1"])
    row = random_row(rng, made)
    return ":".join(str(row[name]) for name in made.row_id)


def batch(made: Table, rows: Sequence[Row]) -> pa.RecordBatch:
    """Rows as the changelog's reader gives them."""
    arrays = []
    for column in made.columns:
        values = [row[column.name] for row in rows]
        if column.type.kind is ColumnKind.TIMESTAMP:
            arrays.append(pa.array(values, pa.int64()))
        elif column.type.kind is ColumnKind.DECIMAL:
            exact = [None if v is None else str(v) for v in values]
            arrays.append(pa.array(exact, pa.string()).cast(arrow_type(column.type)))
        else:
            arrays.append(pa.array(values, arrow_type(column.type)))
    return pa.RecordBatch.from_arrays(arrays, [column.name for column in made.columns])


def plain(values: pa.Array | pa.ChunkedArray) -> list[Value]:
    """A column's values as the naive model has them."""
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    shown: list[Value] = values.to_pylist()
    return shown


def shown(store: TableStore, slots: Slots) -> list[dict[str, Value]]:
    """The rows in these slots, with all their columns."""
    names = [column.name for column in store.table.columns]
    columns = [plain(column) for column in store.take(slots, names)]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def random_order(rng: random.Random, made: Table) -> tuple[OrderBy, ...]:
    names = [column.name for column in made.columns]
    return tuple(
        OrderBy(name, rng.random() < 0.5, rng.choice(list(Nulls)))
        for name in rng.sample(names, rng.choice([0, 1, 1, 2, 4]))
    )


def random_filter(rng: random.Random, made: Table, depth: int = 2) -> Filter:
    if depth and rng.random() < 0.5:
        parts = tuple(random_filter(rng, made, depth - 1) for _ in range(rng.randrange(1, 4)))
        return Filter(all_of=parts) if rng.random() < 0.5 else Filter(any_of=parts)
    column = rng.choice(made.columns)
    return random_condition(rng, column, rng.choice(ops_of(column.type)))


def ops_of(kind: FieldType) -> list[Op]:
    """How such a column can be compared."""
    letters = (Op.CONTAINS, Op.STARTS_WITH)
    if kind.kind is ColumnKind.TEXT:
        return list(Op)
    if kind.kind is ColumnKind.BOOLEAN:
        return [Op.EQUALS, Op.NOT, Op.IN, Op.IS_NULL, Op.NOT_NULL]
    return [op for op in Op if op not in letters]


def random_condition(rng: random.Random, column: Column, op: Op) -> Filter:
    if op in (Op.IS_NULL, Op.NOT_NULL):
        return Filter(column.name, op)
    count = {Op.IN: rng.randrange(4), Op.BETWEEN: 2}.get(op)
    value: Scalar | tuple[Scalar, ...] = random_scalar(rng, column.type)
    if count is not None:
        value = tuple(random_scalar(rng, column.type) for _ in range(count))
    ignore_case = column.type.kind is ColumnKind.TEXT and rng.random() < 0.4
    return Filter(column.name, op, value, ignore_case)


def random_scalar(rng: random.Random, kind: FieldType) -> Scalar:
    """A filter's value as a client may write it; also ones that no row can have."""
    value = random_value(rng, kind)
    if kind.kind is ColumnKind.TEXT:
        return "a" if value is None else str(value)[: rng.choice([1, 2, 24, 300])]
    if kind.kind is ColumnKind.BOOLEAN:
        return bool(value)
    if kind.kind is ColumnKind.TIMESTAMP:
        microseconds = 3 if value is None else int(str(value))
        moment = _EPOCH + datetime.timedelta(microseconds=microseconds)
        return microseconds if rng.random() < 0.5 else moment.isoformat()
    if value is None or value in (float("inf"), float("-inf")):
        odd: list[Scalar] = [7, "7", 7.5, "-0.5", "1E+30", 2**63, -(2**64)]
        return rng.choice(odd)
    if kind.kind is ColumnKind.DECIMAL or rng.random() < 0.5:
        return str(value)
    return float(str(value)) if kind.kind is ColumnKind.FLOAT else int(str(value))


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def random_query(rng: random.Random, made: Table) -> Query:
    search = rng.choice(["", "", "", "a", " A  b ", "é", "WORDS two", LONG + "x", "nothing", "\0"])
    return Query(
        made.name,
        filter=random_filter(rng, made) if rng.random() < 0.6 else None,
        search=search,
        order=random_order(rng, made),
    )


def random_window(rng: random.Random) -> Window:
    return Window(
        rng.choice([0, 0, 1, 7, 40, 1000, -1, -5, -1000]), rng.choice([0, 1, 5, 20, 1000])
    )


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have few rows go through all that otherwise only many go through: cutting an order,
    forgetting buckets, beginning again, packing texts, growing in pieces."""
    small = {
        ordered: {"_SMALLEST_SPLIT": 6, "_BUCKETS": 8, "_TOO_MANY": 12, "_KEPT_SORTED": 2},
        view: {"_PIECE": 5, "_SAMPLE": 64},
        pool: {"_PACK_FROM_BYTES": 100},
        growing: {"_FIRST": 4},
        index: {"_FIRST_SIZE": 8},
        table: {"_LOOK": 3},
        export: {"BATCH": 4},
    }
    for module, constants in small.items():
        for name, value in constants.items():
            monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(ordered, "_SAMPLE_PER_BUCKET", 1)
