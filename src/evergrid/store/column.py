"""One column of a table in memory: values by slot, written in place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evergrid.model.field_types import ColumnKind, FieldType
from evergrid.store.growing_array import Mask, Slots, Values, sized
from evergrid.store.text_pool import NULL, Pool

_NARROW_DIGITS = 18  # decimals up to here fit 64 bits


def arrow_type(field: FieldType) -> pa.DataType:
    """The Arrow type of a field's values."""
    if field.kind is ColumnKind.DECIMAL:
        return pa.decimal128(field.precision, field.scale)
    return _ARROW[field.kind]


_ARROW = {
    ColumnKind.TEXT: pa.string(),
    ColumnKind.INTEGER: pa.int64(),
    ColumnKind.FLOAT: pa.float64(),
    ColumnKind.BOOLEAN: pa.bool_(),
    ColumnKind.TIMESTAMP: pa.timestamp("us", "UTC"),
}


def is_wide(field: FieldType) -> bool:
    """Whether its numbers need more than 64 bits."""
    return field.kind is ColumnKind.DECIMAL and field.precision > _NARROW_DIGITS


class NumberColumn:
    """Integers, floats, booleans, timestamps and decimals.

    A decimal is its unscaled number: in 64 bits where its precision fits, else as two
    words, the low one first.
    """

    def __init__(self, field: FieldType) -> None:
        self.field = field
        self.wide = is_wide(field)
        shape = (0, 2) if self.wide else (0,)
        self._values: Values = np.empty(shape, _DTYPES[field.kind])
        self._valid: Mask | None = None  # made when the first null comes

    @property
    def nbytes(self) -> int:
        return int(self._values.nbytes + (0 if self._valid is None else self._valid.nbytes))

    def reserve(self, capacity: int) -> None:
        self._values = sized(self._values, capacity)
        if self._valid is not None:
            self._valid = sized(self._valid, len(self._values), fill=True)

    def put(self, slots: Slots, values: pa.Array) -> None:
        self._values[slots] = _numbers(values, self.wide)
        if values.null_count and self._valid is None:
            self._valid = np.ones(len(self._values), bool)
        if self._valid is not None:
            self._valid[slots] = values.is_valid().to_numpy(zero_copy_only=False)

    def numbers(self, slots: Slots) -> tuple[Values, Mask | None]:
        """The values, and a mask of those that are not null; None if no value is null."""
        return self._values[slots], None if self._valid is None else self._valid[slots]

    def row_bytes(self, slots: Slots) -> NDArray[np.int64] | int:
        """At most so many bytes has each row's value in Arrow's form."""
        return 1 + (16 if self.field.kind is ColumnKind.DECIMAL else 8)

    def take(self, slots: Slots) -> pa.Array:
        values, valid = self.numbers(slots)
        kind = self.field.kind
        if kind is ColumnKind.BOOLEAN:
            return pa.array(values, mask=None if valid is None else ~valid)
        if kind is ColumnKind.DECIMAL and not self.wide:
            values = np.column_stack((values, values >> 63))
        bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
        data = pa.py_buffer(np.ascontiguousarray(values))
        return pa.Array.from_buffers(arrow_type(self.field), len(slots), [bits, data])


_DTYPES = {
    ColumnKind.INTEGER: np.int64,
    ColumnKind.FLOAT: np.float64,
    ColumnKind.BOOLEAN: np.bool_,
    ColumnKind.TIMESTAMP: np.int64,
    ColumnKind.DECIMAL: np.int64,
}


def in_memory(values: pa.Array, dtype: type[np.generic] = np.int64) -> Values:
    """Arrow's 64-bit values as they lie in memory; entries of nulls are undefined."""
    return np.frombuffer(values.buffers()[1], dtype)[values.offset :][: len(values)]


def _numbers(values: pa.Array, wide: bool) -> Values:
    """Arrow's values as numbers; entries of nulls are undefined."""
    if pa.types.is_boolean(values.type):
        bits = values.fill_null(False).to_numpy(zero_copy_only=False)
        return np.asarray(bits, np.bool_)
    if pa.types.is_decimal(values.type):
        words = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)
        words = words[values.offset :][: len(values)]
        return words if wide else words[:, 0]
    return in_memory(values, np.float64 if pa.types.is_floating(values.type) else np.int64)


class TextColumn:
    """Texts, stored as numbers of a text pool."""

    def __init__(self) -> None:
        self._codes = np.empty(0, np.int32)
        self._pool = Pool()

    @property
    def nbytes(self) -> int:
        return int(self._codes.nbytes + self._pool.nbytes)

    def reserve(self, capacity: int) -> None:
        self._codes = sized(self._codes, capacity, fill=NULL)

    def put(self, slots: Slots, values: pa.Array) -> None:
        self._codes[slots] = self._pool.add(values)
        if self._pool.wasteful:
            self._codes = self._pool.pack(self._codes)

    def forget(self, slots: Slots) -> None:
        """Release the texts of removed rows."""
        self._codes[slots] = NULL

    def save(self) -> None:
        """Free the memory of texts that no row uses any more, if there may be many."""
        if self._pool.has_grown:
            self._codes = self._pool.pack(self._codes)

    def row_bytes(self, slots: Slots) -> NDArray[np.int64] | int:
        """At most so many bytes has each row's text in Arrow's form."""
        return 5 + self._pool.lengths(self._codes[slots])

    def take(self, slots: Slots) -> pa.StringArray:
        return self._pool.take(self._codes[slots])


def column_for(field: FieldType) -> NumberColumn | TextColumn:
    return TextColumn() if field.kind is ColumnKind.TEXT else NumberColumn(field)
