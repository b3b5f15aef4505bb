"""Changes become columns by the batch, every value exact; what is no row is left out and named."""

from __future__ import annotations

import json
import random
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.store import making
from tests.support.naive_table import Row, Value

from evergrid.changelog.arrow_reader import RowReader
from evergrid.changelog.codec import decode
from evergrid.changelog.reader import Record
from evergrid.gateway.engine.changelog_follower import segments
from evergrid.model.field_types import ColumnKind
from evergrid.store.table_store import TableStore

SEED = 20_261_116
TABLE = making.made_table()
TYPES = {column.name: column.type for column in TABLE.columns}


def written(row: Row, *, ascii_only: bool = False) -> bytes:
    """A row as the changelog has it: decimals as texts with all their digits."""
    return json.dumps(
        {name: _cell(name, value) for name, value in row.items()}, ensure_ascii=ascii_only
    ).encode()


def _cell(name: str, value: Value) -> str | int | float | bool | None:
    if isinstance(value, Decimal):
        return format(value, f".{TYPES[name].scale}f")
    return value


def row(**cells: Value) -> dict[str, Value]:
    blank: dict[str, Value] = {column.name: None for column in TABLE.columns}
    return blank | {"partition": 0, "offset": 1, "ts": 0} | cells


def read(*values: bytes) -> tuple[list[dict[str, Value]], list[int]]:
    batch, bad = RowReader(TABLE).read(values)
    columns = [making.plain(column) for column in batch.columns]
    rows = [
        dict(zip(batch.schema.names, cells, strict=True)) for cells in zip(*columns, strict=True)
    ]
    return rows, bad


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("text", [*making.TEXTS, "\u0000", "🂡" * 100, '"\\/\b\f\n\r\t', "\u2028", "x" * 100_000]),
        ("count", making.INTEGERS),
        ("size", [v for v in making.FLOATS if abs(v) <= 1e300] + [1e-300, 1.7976931348623157e308]),
        ("flag", [True, False]),
        ("money", making.MONEY),
        ("wide", making.WIDE),
        ("at", making.MOMENTS),
    ],
)
def test_every_value_comes_through_unchanged(column: str, values: list[Value]) -> None:
    rows = [row(**{column: value}) for value in [*values, None]]
    for ascii_only in (False, True):
        assert read(*(written(one, ascii_only=ascii_only) for one in rows)) == (rows, [])


def test_random_rows_come_through_unchanged() -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    for size in (0, 1, 2, 500):
        rows = [making.random_row(rng, TABLE) for _ in range(size)]
        rows = [r | {"size": 0.5} if r["size"] in _ENDLESS else r for r in rows]
        assert read(*(written(one) for one in rows)) == (rows, [])


_ENDLESS = (float("inf"), float("-inf"))


def test_columns_that_this_table_does_not_have_are_passed_over() -> None:
    one = row(text="here")
    assert read(json.dumps({**one, "later": {"deep": [1]}}).encode()) == ([one], [])


BAD = [
    *(b"", b" ", b"null", b"1", b"[]", b'"text"', b"{", b"}", b"\xff", b"\xef\xbb\xbf{}", b"{}"),
    written(row()) + b"x",
    written(row()) * 2,
    written(row()) + b"\n" + written(row()),
    written(row())[:-1],
    written(row(text="é")).replace("é".encode(), b"\xff"),
    written(row(text="a")).replace(b'"a"', rb'"\ud800"'),
    written(row(text="a")).replace(b'"a"', b'"a\nb"'),
    written(row(text="a")).replace(b'"a"', b"5"),
    written(row(text="a")).replace(b'"a"', b'{"a": 1}'),
    written(row(count=7)).replace(b": 7", b": 7.5"),
    written(row(count=7)).replace(b": 7", b": 9223372036854775808"),
    written(row(count=7)).replace(b": 7", b': "7"'),
    written(row(size=7.5)).replace(b"7.5", b"NaN"),
    written(row(size=7.5)).replace(b"7.5", b"-Infinity"),
    written(row(size=7.5)).replace(b"7.5", b"1e999"),
    written(row(flag=True)).replace(b"true", b"1"),
    written(row(money=Decimal("1.25"))).replace(b"1.25", b"1.255"),
    written(row(money=Decimal("1.25"))).replace(b"1.25", b"much"),
    written(row(money=Decimal("1.25"))).replace(b"1.25", b"12345678901234567.00"),
    written(row(ts=None)),
    written(row(partition=None)),
    written(row(offset=None)),
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_value_that_is_no_row_is_left_out_and_named(bad: bytes) -> None:
    good = [row(offset=n, text="x" * n) for n in range(4)]
    values = [written(one) for one in good]
    assert read(bad) == ([], [0])
    assert read(values[0], bad, *values[1:], bad) == (good, [1, 5])


def test_two_bad_values_do_not_make_up_a_good_one() -> None:
    whole = written(row())
    half = len(whole) // 2
    assert read(whole[:half], whole[half:]) == ([], [0, 1])
    assert read(whole + whole, b"") == ([], [0, 1])
    assert read(whole[:half], whole[half:] + whole) == ([], [0, 1])


def _record(offset: int, value: bytes | None) -> Record:
    return Record("topic", 0, offset, 0, f"0:{offset}".encode(), value)


def test_deletes_stay_where_they_are_among_the_rows() -> None:
    values = [written(row(offset=n)) for n in range(6)]
    records = [_record(n, value) for n, value in enumerate(values)]
    for gone in (1, 3, 4):
        records[gone] = _record(gone, None)
    records[5] = _record(5, b"no row")
    made, bad = segments(records, RowReader(TABLE))
    seen = [
        one.column("offset").to_pylist() if isinstance(one, pa.RecordBatch) else one for one in made
    ]
    assert seen == [[0], ["0:1"], [2], ["0:3", "0:4"], []]
    assert bad == [records[5]]


def test_a_delete_whose_key_is_no_text_is_a_delete_of_nothing() -> None:
    odd = Record("topic", 0, 0, 0, b"0:\xff", None)
    store = TableStore(TABLE)
    store.upsert(making.batch(TABLE, [row()]), 1)
    for ids in segments([odd], RowReader(TABLE))[0]:
        assert isinstance(ids, list)
        store.delete(ids)
    assert len(store) == 1


def test_the_batch_reader_agrees_with_the_one_that_reads_row_by_row() -> None:
    rng = random.Random(SEED)
    for _ in range(200):
        one = making.random_row(rng, TABLE) | {"size": 2.5}
        (seen,), _ = read(written(one))
        change = decode(b"0:1", written(one))
        assert change.row == {name: _cell(name, value) for name, value in seen.items()}


def test_a_table_of_every_type_is_what_these_tests_use() -> None:
    assert {column.type.kind for column in TABLE.columns} == set(ColumnKind)
