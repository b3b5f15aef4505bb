"""Sort keys of rows, as arrays that compare column by column.

Every value becomes an unsigned 64-bit number that compares as the value does, inverted for
descending columns. A null becomes the lowest or highest number, and a further column tells it
from a value with this number. A text becomes its first words, then the rest of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from evergrid.model.field_types import ColumnKind, FieldType
from evergrid.model.table import Table
from evergrid.store.column import is_wide
from evergrid.store.growing_array import Mask, Merge, Slots, Values
from evergrid.store.rows import WORDS, Rows

_TOP_BIT = np.uint64(1 << 63)
_ALL_BITS = np.uint64(2**64 - 1)
_INVERTED = bytes((254 - byte) % 256 for byte in range(256))

# Numbers, or texts' rests as objects; None where every row has the same, the column's blank.
KeyColumn = NDArray[Any] | None


class Term(msgspec.Struct, frozen=True):
    """One column of an order."""

    column: str
    type: FieldType
    descending: bool = False
    nulls_first: bool = False


def _descending(text: bytes) -> bytes:
    """Bytes that compare as these do in descending order: UTF-8 never has a byte 255."""
    return text.translate(_INVERTED) + b"\xff"


class Keys:
    """The sort keys of some rows, column by column."""

    def __init__(self, columns: Sequence[KeyColumn], blanks: Sequence[object]) -> None:
        self.columns = tuple(columns)
        self.blanks = tuple(blanks)  # what a None column holds in every row

    def __len__(self) -> int:
        first = self.columns[0]
        assert first is not None
        return len(first)

    def take(self, rows: Slots | Mask) -> Keys:
        return Keys([None if c is None else c[rows] for c in self.columns], self.blanks)

    def merged(self, merge: Merge, others: Keys) -> Keys:
        """These keys and `others`, combined by `merge`."""
        return Keys(
            [
                None
                if a is None and b is None
                else merge(_filled(a, self, i), _filled(b, others, i))
                for i, (a, b) in enumerate(zip(self.columns, others.columns, strict=True))
            ],
            self.blanks,
        )

    def sorted(self) -> Slots:
        """The positions of the rows in their order."""
        numeric = [
            c if c.dtype != object else _ranks(c) for c in reversed(self.columns) if c is not None
        ]
        return np.lexsort(numeric)

    def locate(self, others: Keys) -> Slots:
        """For each of `others`, how many of these sorted keys are not greater."""
        first, probe = self.columns[0], others.columns[0]
        assert first is not None
        assert probe is not None
        low = np.searchsorted(first, probe, "left")
        open_rows = np.flatnonzero(first[np.minimum(low, len(first) - 1)] == probe)
        high = low.copy()
        high[open_rows] = np.searchsorted(first, probe[open_rows], "right")
        while open_rows.size:
            middle = (low[open_rows] + high[open_rows]) // 2
            greater = self._greater(middle, others, open_rows)
            high[open_rows[greater]] = middle[greater]
            low[open_rows[~greater]] = middle[~greater] + 1
            open_rows = open_rows[low[open_rows] < high[open_rows]]
        return low

    def _greater(self, mine: Slots, others: Keys, theirs: Slots) -> Mask:
        """Whether these rows are greater than the others, if the first columns are equal."""
        greater = np.zeros(len(mine), bool)
        tied = np.arange(len(mine))
        for i in range(1, len(self.columns)):
            if self.columns[i] is None and others.columns[i] is None:
                continue
            ours = _filled(self.columns[i], self, i)[mine[tied]]
            other = _filled(others.columns[i], others, i)[theirs[tied]]
            greater[tied] = np.asarray(ours > other, bool)
            tied = tied[np.asarray(ours == other, bool)]
            if not tied.size:
                break
        return greater


class Order:
    """Computes the sort keys for one order.

    Equal rows are in the table's default order: by time, then by position in Kafka, so that no
    two rows are equal.
    """

    def __init__(self, terms: Sequence[Term], table: Table) -> None:
        named = {term.column for term in terms}
        types = {column.name: column.type for column in table.columns}
        rest = [Term(name, types[name]) for name in table.order if name not in named]
        self.terms = (*terms, *rest)

    def keys(self, rows: Rows) -> Keys:
        columns: list[KeyColumn] = []
        blanks: list[object] = []
        for term in self.terms:
            columns += rows.remembered(term, _term_keys)
            blanks += _blanks(term)
        return Keys(columns, blanks)


def _blanks(term: Term) -> list[object]:
    flag = np.uint64(term.nulls_first)
    if term.type.kind is ColumnKind.TEXT:
        return [None] * WORDS + [flag, _descending(b"") if term.descending else b""]
    return [None] * (2 if is_wide(term.type) else 1) + [flag]


def _term_keys(rows: Rows, term: Term) -> Sequence[KeyColumn]:
    return _text_keys(rows, term) if term.type.kind is ColumnKind.TEXT else _keys(rows, term)


def _keys(rows: Rows, term: Term) -> list[KeyColumn]:
    values, valid = rows.numbers(term.column)
    parts = [values]
    if values.ndim == 2:  # a wide decimal: its high word, then its unsigned low word
        parts = [values[:, 1], values[:, 0].view(np.uint64)]
    words = [_ascending(part, term.type.kind) for part in parts]
    if term.descending:
        words = [~word for word in words]
    return _with_nulls(words, valid, term.nulls_first)


def _ascending(values: Values, kind: ColumnKind) -> NDArray[np.uint64]:
    if values.dtype == np.uint64:
        return np.ascontiguousarray(values)
    if kind is ColumnKind.FLOAT:
        bits = (values + 0.0).view(np.uint64)  # -0.0 becomes 0.0
        negative = (bits & _TOP_BIT) != 0
        return np.where(negative, ~bits, bits | _TOP_BIT)
    if kind is ColumnKind.BOOLEAN:
        return values.astype(np.uint64)
    return np.ascontiguousarray(values).view(np.uint64) ^ _TOP_BIT


def _text_keys(rows: Rows, term: Term) -> list[KeyColumn]:
    texts, words = rows.texts(term.column), rows.words(term.column)
    numbers = [~word if term.descending else word for word in words.words]
    valid = texts.is_valid().to_numpy(zero_copy_only=False) if texts.null_count else None
    rest = words.rest
    if rest is not None and term.descending:
        turned = np.empty(len(rest), object)
        turned[:] = [_descending(text) for text in rest]
        rest = turned
    return [*_with_nulls(numbers, valid, term.nulls_first), rest]


def _with_nulls(
    words: list[NDArray[np.uint64]], valid: Mask | None, nulls_first: bool
) -> list[KeyColumn]:
    """The words with nulls at one end, and the column that tells nulls from values."""
    if valid is None or valid.all():
        return [*words, None]
    extreme = np.uint64(0) if nulls_first else _ALL_BITS
    placed = [np.where(valid, word, extreme) for word in words]
    return [*placed, (valid == nulls_first).astype(np.uint64)]


def _filled(column: KeyColumn, keys: Keys, i: int) -> NDArray[Any]:
    if column is not None:
        return column
    blank = keys.blanks[i]
    if isinstance(blank, np.uint64):
        return np.full(len(keys), blank)
    objects = np.empty(len(keys), object)
    objects[:] = blank
    return objects


def _ranks(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Objects as numbers in the same order, for numpy's sort."""
    ranks = {value: rank for rank, value in enumerate(sorted(set(column)))}
    return np.fromiter((ranks[value] for value in column), np.uint64, len(column))
