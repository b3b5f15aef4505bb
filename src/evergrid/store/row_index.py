"""Row ids as numbers, and rows by id: an open hash table, searched for a whole batch at a time.

A dictionary of Python objects would take more memory than the rows themselves. Here an
entry is four bytes; ids are compared where they are stored already, in the columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evergrid.model.field_types import ColumnKind
from evergrid.model.table import ID_SEPARATOR, Table
from evergrid.store.column import in_memory
from evergrid.store.growing_array import Mask, Slots, sized

Parts = Sequence[NDArray[np.int64]]

MISSING = -1
_EMPTY = -1
_GONE = -2
_FIRST_SIZE = 2048
_FULL = 0.6
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
# As we write them: anything else is no id of ours, and one with many digits is no number.
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")


class RowIndex:
    """Finds slots by the parts of their id; `stored` gives the parts of the rows in slots."""

    def __init__(self, stored: Callable[[Slots], Parts]) -> None:
        self._stored = stored
        self._table = np.full(_FIRST_SIZE, _EMPTY, np.int32)
        self._used = 0  # entries that are not empty, removed ones too
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    @property
    def nbytes(self) -> int:
        return int(self._table.nbytes)

    def find(self, parts: Parts) -> Slots:
        """The slot of each id, or MISSING."""
        size = len(parts[0])
        found = np.full(size, MISSING, np.int64)
        rows = np.arange(size)
        at = self._start(parts)
        while rows.size:
            entry = self._table[at]
            known = entry >= 0
            match = known.copy()
            match[known] = self._same(entry[known], parts, rows[known])
            found[rows[match]] = entry[match]
            go_on = (entry != _EMPTY) & ~match
            rows, at = rows[go_on], self._next(at[go_on])
        return found

    def add(self, parts: Parts, slots: Slots) -> Slots:
        """Add ids that `find` did not find, whose rows are stored in `slots` already.

        An id that occurs twice is added once; returns the slot of each id.
        """
        self._make_room(len(slots))
        given = slots.copy()
        rows = np.arange(len(slots))
        at = self._start(parts)
        while rows.size:
            before = self._table[at]
            free = before < 0
            self._table[at[free]] = slots[rows[free]]
            entry = self._table[at]
            won = entry == slots[rows]
            self._used += int(np.count_nonzero(won & (before == _EMPTY)))
            twin = ~won
            twin[twin] = self._same(entry[twin], parts, rows[twin])
            given[rows[twin]] = entry[twin]
            self._rows += int(np.count_nonzero(won))
            go_on = ~won & ~twin
            rows, at = rows[go_on], self._next(at[go_on])
        return given

    def remove(self, slots: Slots) -> None:
        """Remove rows from the index."""
        rows = slots
        at = self._start(self._stored(slots))
        while rows.size:
            here = self._table[at] == rows
            self._table[at[here]] = _GONE
            rows, at = rows[~here], self._next(at[~here])
        self._rows -= len(slots)

    def _same(self, entry: NDArray[np.int32], parts: Parts, rows: Slots) -> Mask:
        stored = self._stored(entry.astype(np.int64))
        same = np.ones(len(rows), bool)
        for have, part in zip(stored, parts, strict=True):
            same &= have == part[rows]
        return same

    def _start(self, parts: Parts) -> Slots:
        hashed = np.zeros(len(parts[0]), np.uint64)
        for part in parts:
            hashed = (hashed ^ part.astype(np.uint64)) * _MULTIPLIER
            hashed ^= hashed >> _SHIFT
        return (hashed & np.uint64(len(self._table) - 1)).astype(np.int64)

    def _next(self, at: Slots) -> Slots:
        return (at + 1) & (len(self._table) - 1)

    def _make_room(self, more: int) -> None:
        """Make a larger hash table, or one without removed entries, before this one gets slow."""
        if self._used + more <= _FULL * len(self._table):
            return
        size = len(self._table)
        while self._rows + more > _FULL * size / 2:
            size *= 2
        slots = self._table[self._table >= 0].astype(np.int64)
        self._table = np.full(size, _EMPTY, np.int32)
        self._used = self._rows = 0
        if slots.size:
            self._refill(slots)

    def _refill(self, slots: Slots) -> None:
        at = self._start(self._stored(slots))
        rows = slots
        while rows.size:
            free = self._table[at] == _EMPTY
            self._table[at[free]] = rows[free]
            placed = self._table[at] == rows
            rows, at = rows[~placed], self._next(at[~placed])
        self._used = self._rows = len(slots)


class RowIds:
    """The parts of row ids as numbers: integer columns as they are, texts by their order of
    appearance (they are topics, of which there are few)."""

    def __init__(self, table: Table) -> None:
        kinds = {column.name: column.type.kind for column in table.columns}
        self._names = table.row_id
        self._numbers: Mapping[str, dict[str, int]] = {
            name: {} for name in table.row_id if kinds[name] is ColumnKind.TEXT
        }
        self._texts: dict[str, list[str]] = {name: [] for name in self._numbers}
        self._stored: dict[str, NDArray[np.int64]] = {
            name: np.empty(0, np.int64) for name in table.row_id
        }

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._stored.values())

    def reserve(self, capacity: int) -> None:
        for name, part in self._stored.items():
            self._stored[name] = sized(part, capacity, fill=0)

    def parts(self, batch: pa.RecordBatch) -> Parts:
        return [self._part(name, batch.column(name)) for name in self._names]

    def store(self, slots: Slots, parts: Parts) -> None:
        for name, part in zip(self._names, parts, strict=True):
            self._stored[name][slots] = part

    def stored(self, slots: Slots) -> Parts:
        return [self._stored[name][slots] for name in self._names]

    def texts(self, slots: Slots) -> list[str]:
        columns = [
            [self._texts[name][number] for number in part.tolist()]
            if name in self._texts
            else [str(number) for number in part.tolist()]
            for name, part in zip(self._names, self.stored(slots), strict=True)
        ]
        return [ID_SEPARATOR.join(parts) for parts in zip(*columns, strict=True)]

    def most_bytes(self, slots: Slots) -> int:
        """No id of these rows has more bytes."""
        if not len(slots):
            return 0
        most = len(self._names) - 1
        for name, part in zip(self._names, self.stored(slots), strict=True):
            if name in self._texts:
                numbers = np.unique(part).tolist()
                most += max(len(self._texts[name][number].encode()) for number in numbers)
            else:
                most += max(len(str(part.min())), len(str(part.max())))
        return most

    def parsed(self, ids: Sequence[str]) -> Parts | None:
        """The parts of those ids that have this table's form; None if none has."""
        split = [row_id.split(ID_SEPARATOR) for row_id in ids]
        rows = [parts for row in split if (parts := self._parse(row)) is not None]
        if not rows:
            return None
        return [np.array(part, np.int64) for part in zip(*rows, strict=True)]

    def _parse(self, texts: Sequence[str]) -> list[int] | None:
        if len(texts) != len(self._names):
            return None
        parts = []
        for name, text in zip(self._names, texts, strict=True):
            if name in self._numbers:
                parts.append(self._numbers[name].get(text, MISSING))
            elif _NUMBER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
                parts.append(int(text))
            else:
                return None
        return parts

    def _part(self, name: str, values: pa.Array) -> NDArray[np.int64]:
        if name not in self._numbers:
            return in_memory(values)
        encoded = values.dictionary_encode()
        known = self._numbers[name]
        texts = encoded.dictionary.to_pylist()
        for text in texts:
            if text not in known:
                known[text] = len(known)
                self._texts[name].append(text)
        numbers = np.array([known[text] for text in texts], np.int64)
        return np.asarray(numbers[encoded.indices.to_numpy(zero_copy_only=False)])
