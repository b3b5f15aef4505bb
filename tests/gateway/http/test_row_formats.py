from __future__ import annotations

import csv
import io
import json
from decimal import Decimal

import pyarrow as pa
import pytest

from evergrid.gateway.http.row_formats import RowsHead, writer
from evergrid.gateway.http.row_parameters import Format
from evergrid.model.field_types import TEXT
from evergrid.model.table import Column

HEAD = RowsHead("people", 3, (Column("name", TEXT),), 2)
HARD = [
    None,
    "",
    " ",
    ",",
    '"',
    '""',
    "\r\n",
    "a\nb",
    "=1+1",
    "-2",
    "+3",
    "@x",
    "\t",
    "'",
    "ü 漢字 🎈",
    "\x00",
    "null",
    "  trimmed? ",
]


def written(batch: pa.RecordBatch, format_: Format, guard: bool = False, step: int = 2) -> bytes:
    form = writer(format_, HEAD, guard)
    parts = [form.begin(batch.schema), form.rows(batch.slice(0, 0))]
    parts += [form.rows(batch.slice(start, step)) for start in range(0, batch.num_rows, step)]
    return b"".join([*parts, form.end()])


def texts(values: list[str | None]) -> pa.RecordBatch:
    return pa.record_batch({"_id": [str(i) for i in range(len(values))], "name": values})


def column(array: pa.Array) -> pa.RecordBatch:
    return pa.record_batch({"_id": [str(i) for i in range(len(array))], "x": array})


def test_json_is_one_object_with_the_rows_in_it() -> None:
    read = json.loads(written(texts(HARD), Format.JSON))
    assert read["table"] == "people"
    assert read["total"] == 2
    assert read["columns"] == [{"name": "name", "type": {"kind": "text"}, "role": "data"}]
    assert [row["name"] for row in read["rows"]] == HARD
    assert list(read["rows"][0]) == ["_id", "name"]


def test_json_without_rows_is_json() -> None:
    assert json.loads(written(texts([]), Format.JSON))["rows"] == []


def test_json_lines_are_one_object_each() -> None:
    lines = written(texts(HARD), Format.NDJSON).decode().removesuffix("\n").split("\n")
    assert [json.loads(line)["name"] for line in lines] == HARD


def test_csv_gives_every_text_back() -> None:
    data = written(texts(HARD), Format.CSV).decode()
    rows = list(csv.reader(io.StringIO(data, newline="")))
    assert rows[0] == ["_id", "name"]
    assert [row[1] for row in rows[1:]] == [text or "" for text in HARD]
    assert data.startswith("_id,name\r\n")


def test_csv_tells_null_from_an_empty_text() -> None:
    assert written(texts([None, ""]), Format.CSV) == b'_id,name\r\n0,\r\n1,""\r\n'


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_guarded_csv_runs_no_formulas(text: str) -> None:
    data = written(texts([text, "plain"]), Format.CSV, guard=True).decode()
    rows = list(csv.reader(io.StringIO(data, newline="")))
    assert [row[1] for row in rows[1:]] == [f"'{text}", "plain"]


def test_guarded_csv_leaves_numbers_alone() -> None:
    assert written(column(pa.array([-5])), Format.CSV, guard=True) == b"_id,x\r\n0,-5\r\n"


@pytest.mark.parametrize(
    ("array", "in_json", "in_csv"),
    [
        (pa.array([2**63 - 1, -(2**63), None]), [2**63 - 1, -(2**63), None], None),
        (pa.array([True, False, None]), [True, False, None], ["true", "false", ""]),
        (pa.array([0.1, 1e300, None]), [0.1, 1e300, None], ["0.1", "1e+300", ""]),
        (
            pa.array(
                [Decimal("0.0000000001"), Decimal("-9" * 1 + "9" * 27 + ".5"), None],
                pa.decimal128(38, 10),
            ),
            ["0.0000000001", "-" + "9" * 28 + ".5000000000", None],
            None,
        ),
        (
            pa.array([0, -1, 253402300799999999, 253402300800000000, None], pa.int64()).cast(
                pa.timestamp("us", "UTC")
            ),
            [
                "1970-01-01T00:00:00.000000Z",
                "1969-12-31T23:59:59.999999Z",
                "9999-12-31T23:59:59.999999Z",
                "10000-01-01T00:00:00.000000Z",
                None,
            ],
            None,
        ),
    ],
    ids=["integer", "boolean", "float", "decimal", "timestamp"],
)
def test_every_type_comes_through_exactly(
    array: pa.Array, in_json: list[object], in_csv: list[str] | None
) -> None:
    read = json.loads(written(column(array), Format.JSON))
    assert [row["x"] for row in read["rows"]] == in_json
    rows = list(csv.reader(io.StringIO(written(column(array), Format.CSV).decode(), newline="")))
    expected = in_csv or ["" if value is None else str(value) for value in in_json]
    assert [row[1] for row in rows[1:]] == expected


def test_numbers_that_json_does_not_have_are_null_there() -> None:
    batch = column(pa.array([float("nan"), float("inf")]))
    assert [row["x"] for row in json.loads(written(batch, Format.JSON))["rows"]] == [None, None]
    assert written(batch, Format.CSV) == b"_id,x\r\n0,nan\r\n1,inf\r\n"


def test_arrow_is_an_ipc_stream_of_the_same_rows() -> None:
    batch = texts(HARD)
    assert pa.ipc.open_stream(written(batch, Format.ARROW)).read_all() == pa.table(batch)
    assert pa.ipc.open_stream(written(texts([]), Format.ARROW)).read_all().num_rows == 0
