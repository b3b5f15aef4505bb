"""Rows by id: an open hash table of slots, searched for a whole batch at a time.

A dictionary of Python objects would take more memory than the rows themselves. Here an
entry is four bytes; ids are compared where they are stored already, in the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evergrid.store.growing_array import Mask, Slots

Parts = Sequence[NDArray[np.int64]]

MISSING = -1
_EMPTY = -1
_GONE = -2
_FIRST_SIZE = 2048
_FULL = 0.6
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


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
