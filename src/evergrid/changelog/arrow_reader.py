"""Reads batches of changelog rows into Arrow columns, without a Python object per value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from evergrid.changelog.codec import decode
from evergrid.model.errors import BrokenPromise
from evergrid.model.field_types import ColumnKind
from evergrid.model.table import Table

# The types in the JSON: times are microseconds, decimals are text.
_JSON_TYPES = {
    ColumnKind.TEXT: pa.string(),
    ColumnKind.INTEGER: pa.int64(),
    ColumnKind.FLOAT: pa.float64(),
    ColumnKind.DECIMAL: pa.string(),
    ColumnKind.BOOLEAN: pa.bool_(),
    ColumnKind.TIMESTAMP: pa.int64(),
}


class RowReader:
    """Reads the rows of one table; values that do not fit its schema are left out."""

    def __init__(self, table: Table) -> None:
        self._decimals = {
            index: pa.decimal128(column.type.precision, column.type.scale)
            for index, column in enumerate(table.columns)
            if column.type.kind is ColumnKind.DECIMAL
        }
        self._needed = {*table.row_id, *table.order}
        schema = pa.schema([(c.name, _JSON_TYPES[c.type.kind]) for c in table.columns])
        self._parsing = pyarrow.json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="ignore"
        )

    def read(self, values: Sequence[bytes]) -> tuple[pa.RecordBatch, list[int]]:
        """The rows, and the positions of invalid values."""
        try:
            return self._parsed(values), []
        except pa.ArrowInvalid:
            valid = [self._is_valid(value) for value in values]
            bad = [index for index, good in enumerate(valid) if not good]
            return self._parsed(list(itertools.compress(values, valid))), bad

    def _is_valid(self, value: bytes) -> bool:
        try:
            decode(b"", value)
            self._parsed([value])
        except (pa.ArrowInvalid, msgspec.MsgspecError, BrokenPromise, UnicodeDecodeError):
            return False
        return True

    def _parsed(self, values: Sequence[bytes]) -> pa.RecordBatch:
        lines = b"\n".join(values) or b"{}"
        # Count the line ends between a closing and an opening brace, so that one value cannot
        # count as two, nor two as one.
        is_braced = lines.startswith(b"{") and lines.endswith(b"}")
        if lines.count(b"}\n{") != max(len(values), 1) - 1 or not is_braced:
            raise pa.ArrowInvalid("a value is not one JSON object")
        options = pyarrow.json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
        reader = pyarrow.json.open_json(pa.BufferReader(lines), options, self._parsing)
        batch = reader.read_next_batch()
        if len(batch) != max(len(values), 1):
            raise pa.ArrowInvalid("a value is not one JSON object")
        for index, type_ in self._decimals.items():
            decimals = batch.column(index).cast(type_)
            batch = batch.set_column(index, batch.schema.names[index], decimals)
        if not values:
            return batch.slice(0, 0)
        self._check(batch)
        return batch

    def _check(self, batch: pa.RecordBatch) -> None:
        """ArrowInvalid for values that the JSON parser accepts and a table cannot have."""
        batch.validate(full=True)  # texts are UTF-8
        for name in self._needed:
            if batch.column(name).null_count:
                raise pa.ArrowInvalid(f"a row without {name}")
        for column in batch.columns:
            is_float = pa.types.is_floating(column.type)
            if is_float and pc.any(pc.invert(pc.is_finite(column))).as_py():
                raise pa.ArrowInvalid("a number that is not finite")
