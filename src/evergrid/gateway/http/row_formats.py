"""Writes rows as JSON, JSON lines, CSV or Arrow, a few at a time so that the loop is not blocked.

Every value is exact: decimals as text with all their digits, timestamps as ISO 8601 in UTC with
microseconds, integers with all 64 bits.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np
import pyarrow as pa

from evergrid.gateway.http.row_parameters import Format
from evergrid.model.table import Column

Cell = str | int | float | bool | None
Row = dict[str, Cell]

_SPECIAL = re.compile(r'[",\r\n]')
_BLANK = (" ", "\t")
# A cell that starts with one of these is a formula for spreadsheets.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_encode = msgspec.json.Encoder().encode


class RowsHead(msgspec.Struct, frozen=True):
    """What is known before the first row; `total` is the row count of the whole view."""

    table: str
    generation: int
    columns: tuple[Column, ...]
    total: int | None


class RowsDocument(RowsHead, frozen=True):
    """The document that `JsonWriter` writes in pieces."""

    rows: Sequence[Row]


class Writer:
    """Call `begin`, then `rows` any number of times, then `end`; together that is the file."""

    def begin(self, schema: pa.Schema) -> bytes:
        return b""

    def rows(self, batch: pa.RecordBatch) -> bytes:
        raise NotImplementedError

    def end(self) -> bytes:
        return b""


def writer(format_: Format, head: RowsHead, guard: bool) -> Writer:
    if format_ is Format.ARROW:
        return ArrowWriter()
    if format_ is Format.CSV:
        return CsvWriter(guard)
    return LinesWriter() if format_ is Format.NDJSON else JsonWriter(head)


class LinesWriter(Writer):
    """JSON lines: an object per line."""

    def rows(self, batch: pa.RecordBatch) -> bytes:
        return b"".join(line + b"\n" for line in _objects(batch))


class ArrowWriter(Writer):
    """An Arrow IPC stream."""

    def __init__(self) -> None:
        self._sink = io.BytesIO()

    def begin(self, schema: pa.Schema) -> bytes:
        self._stream = pa.ipc.new_stream(self._sink, schema)
        return self._written()

    def rows(self, batch: pa.RecordBatch) -> bytes:
        if batch.num_rows:
            self._stream.write_batch(batch)
        return self._written()

    def end(self) -> bytes:
        self._stream.close()
        return self._written()

    def _written(self) -> bytes:
        data = self._sink.getvalue()
        self._sink.seek(0)
        self._sink.truncate()
        return data


class JsonWriter(Writer):
    """One JSON object: table, columns, total, and an object per row."""

    def __init__(self, head: RowsHead) -> None:
        self._head = head
        self._first = True

    def begin(self, schema: pa.Schema) -> bytes:
        return _encode(self._head)[:-1] + b',"rows":['

    def rows(self, batch: pa.RecordBatch) -> bytes:
        if not batch.num_rows:
            return b""
        text = b",\n".join(_objects(batch))
        start, self._first = (b"\n" if self._first else b",\n"), False
        return start + text

    def end(self) -> bytes:
        return b"\n]}\n"


class CsvWriter(Writer):
    """RFC 4180 in UTF-8 with a header; null is an empty cell, an empty text is ``""``.

    `guard` puts ' before texts that a spreadsheet would run as a formula. It is off by default,
    because it changes the values.
    """

    def __init__(self, guard: bool) -> None:
        self._guard = guard

    def begin(self, schema: pa.Schema) -> bytes:
        return _line(_quoted(name) for name in schema.names).encode()

    def rows(self, batch: pa.RecordBatch) -> bytes:
        columns = [self._texts(column) for column in batch.columns]
        return "".join(_line(cells) for cells in zip(*columns, strict=True)).encode()

    def _texts(self, column: pa.Array) -> Sequence[str]:
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        text = self._text if is_text else _plain
        return ["" if value is None else text(value) for value in cells(column)]

    def _text(self, value: Cell) -> str:
        text = str(value)
        return _quoted(f"'{text}" if self._guard and _FORMULA.match(text) else text)


def cells(column: pa.Array) -> Sequence[Cell]:
    """A column's values as JSON values."""
    convert = _CONVERSIONS.get(column.type.id)
    return column.to_pylist() if convert is None else convert(column)


def _decimals(column: pa.Array) -> Sequence[Cell]:
    return [None if value is None else format(value, "f") for value in column.to_pylist()]


def _timestamps(column: pa.Array) -> Sequence[Cell]:
    # By numpy, because Python's own dates end with the year 9999.
    moments = column.cast(pa.int64()).fill_null(0).to_numpy().astype("datetime64[us]")
    texts = np.datetime_as_string(moments, unit="us").tolist()
    valid = column.is_valid().to_pylist()
    return [f"{text}Z" if there else None for text, there in zip(texts, valid, strict=True)]


_CONVERSIONS: dict[int, Callable[[pa.Array], Sequence[Cell]]] = {
    pa.decimal128(1, 0).id: _decimals,
    pa.timestamp("us").id: _timestamps,
}


def _objects(batch: pa.RecordBatch) -> list[bytes]:
    names = batch.schema.names
    columns = [cells(column) for column in batch.columns]
    return [_encode(dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]


def _plain(value: Cell) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(text: str) -> str:
    if not text or text.startswith(_BLANK) or text.endswith(_BLANK) or _SPECIAL.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _line(texts: Iterable[str]) -> str:
    return ",".join(texts) + "\r\n"
