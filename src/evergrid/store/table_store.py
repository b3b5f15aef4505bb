"""One table in memory: upserts and deletes by row id, and retention."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evergrid.model.table import Table
from evergrid.store.column import TextColumn, column_for, in_memory
from evergrid.store.growing_array import Mask, Slots, enough, sized
from evergrid.store.ordered_rows import OrderedRows
from evergrid.store.row_index import MISSING, Parts, RowIds, RowIndex
from evergrid.store.rows import Rows
from evergrid.store.sort_keys import Order

_MICROSECONDS = 1_000_000


class ApplyResult(msgspec.Struct, frozen=True):
    """The effect of a batch: slots with new or changed rows, and slots whose rows were removed."""

    changed: Slots
    removed: Slots


class TableStore:
    """The rows of a table. A row stays in its slot; free slots are used again."""

    def __init__(self, table: Table, *, max_bytes: int | None = None) -> None:
        self.table = table
        self.max_bytes = max_bytes
        self.columns = {column.name: column_for(column.type) for column in table.columns}
        self._ids = RowIds(table)
        self._index = RowIndex(self._ids.stored)
        self._stamps: NDArray[np.int64] = np.empty(0, np.int64)
        self._births: NDArray[np.int64] = np.empty(0, np.int64)
        self._alive: Mask = np.empty(0, bool)
        self.end = 0  # the first slot after all slots in use
        self._free: list[int] = []
        self._time = table.order[0]
        self._order = Order((), table)
        self._by_age: OrderedRows | None = None
        self._oldest = np.iinfo(np.int64).max  # no row is older than this
        self._peak = 0  # bytes beyond the cap when the rows were last found to be too many
        self._most_rows = 0  # and how many there may be since
        self.newest = 0
        self.over_memory = 0  # rows dropped for lack of memory that retention would still keep
        self._newest_over_memory = 0  # the time of the newest of them

    def __len__(self) -> int:
        return len(self._index)

    @property
    def capacity(self) -> int:
        return len(self._stamps)

    @property
    def nbytes(self) -> int:
        by_age = self._by_age.nbytes if self._by_age else 0
        by_slot = self._stamps.nbytes + self._births.nbytes + self._alive.nbytes
        columns = sum(column.nbytes for column in self.columns.values())
        return int(columns + self._ids.nbytes + self._index.nbytes + by_slot + by_age)

    def rows(self, slots: Slots) -> Rows:
        return Rows(self.columns, slots)

    def slots(self, start: int, stop: int) -> Slots:
        """The slots in use from `start` up to `stop`."""
        return np.flatnonzero(self._alive[start : min(stop, self.end)]) + start

    def stamps(self, slots: Slots) -> NDArray[np.int64]:
        """The tick of each row's last change."""
        return self._stamps[slots]

    def present_since(self, slots: Slots, tick: int) -> Mask:
        """Which slots still hold the row that they held at that tick."""
        return self._alive[slots] & (self._births[slots] <= tick)

    def take(self, slots: Slots, names: Sequence[str]) -> list[pa.Array]:
        return [self.columns[name].take(slots) for name in names]

    def row_bytes(self, slots: Slots, names: Sequence[str]) -> NDArray[np.int64]:
        """At most so many bytes has each row, with its id, in Arrow's form; without reading it."""
        sizes = np.full(len(slots), 5 + self._ids.most_bytes(slots), np.int64)
        for name in names:
            sizes += self.columns[name].row_bytes(slots)
        return sizes

    def row_ids(self, slots: Slots) -> list[str]:
        return self._ids.texts(slots)

    def upsert(self, batch: pa.RecordBatch, tick: int) -> ApplyResult:
        """Insert or replace rows, in their order; rows older than the stored ones are ignored."""
        if not batch.num_rows:
            return _NOTHING
        parts = self._ids.parts(batch)
        slots = self._index.find(parts)
        known = slots != MISSING
        new = np.flatnonzero(~known)
        if new.size:
            slots[new] = self._enter([part[new] for part in parts])
            self._births[slots[new]] = tick
        winners = self._winners(batch, slots, known)
        if winners is not None:
            batch, slots = batch.take(pa.array(winners)), slots[winners]
        for name, column in self.columns.items():
            column.put(slots, batch.column(name))
        self._stamps[slots] = tick
        self._note_times(batch)
        if self._by_age is not None:
            self._by_age.put(slots, self._order.keys(self.rows(slots)))
        return ApplyResult(slots, _NO_SLOTS)

    def delete(self, ids: Sequence[str]) -> ApplyResult:
        """Delete rows by their ids; unknown ids are ignored."""
        parts = self._ids.parsed(ids)
        if parts is None:
            return _NOTHING
        slots = self._index.find(parts)
        return self._drop(np.unique(slots[slots != MISSING]))

    def expire(self, now: int) -> ApplyResult:
        """Delete the oldest rows: those beyond the table's limits of rows, age and memory."""
        retention = self.table.retention
        spare = len(self) - retention.rows if retention.rows is not None else 0
        spare = max(0, spare)
        surplus = max(spare, self._beyond_memory())
        age_limit = np.iinfo(np.int64).min
        if retention.age_seconds is not None:
            age_limit = now - retention.age_seconds * _MICROSECONDS
        gone = [_NO_SLOTS]
        if surplus > 0:
            oldest = self._oldest_first().between(0, surplus)
            self._count_over_memory(oldest[spare:], age_limit)
            gone.append(self._drop(oldest).removed)
        if self._newest_over_memory < age_limit:
            self.over_memory = 0  # retention would have dropped all of them by now
        while self._oldest < age_limit and len(self):
            old = self._oldest_first().between(0, _LOOK)
            times, _ = self.rows(old).numbers(self._time)
            expired = int(np.count_nonzero(times < age_limit))  # they come first
            gone.append(self._drop(old[:expired]).removed)
            if expired < len(old):
                self._oldest = int(times[expired])
        return ApplyResult(_NO_SLOTS, np.concatenate(gone))

    def _count_over_memory(self, slots: Slots, age_limit: int) -> None:
        times, _ = self.rows(slots).numbers(self._time)
        kept = times[times >= age_limit]
        if kept.size:
            self.over_memory += int(kept.size)
            self._newest_over_memory = max(self._newest_over_memory, int(kept.max()))

    def _beyond_memory(self) -> int:
        """How many rows to delete so that memory stays below its limit.

        Slots of deleted rows are used again, not freed, so memory may stay above the limit. Only if
        memory has grown since are the remaining rows still too many.
        """
        if self.max_bytes is None or self.nbytes <= self.max_bytes:
            self._peak = 0
            return 0
        for column in self.columns.values():
            if isinstance(column, TextColumn):
                column.save()
        self._oldest_first()  # needed for what follows, and part of what is held
        held = self.nbytes
        if held > max(self._peak, self.max_bytes):
            before = self._peak or self.max_bytes
            rows = self._most_rows if self._peak else len(self)
            self._most_rows, self._peak = int(rows * before / held), held
        return len(self) - self._most_rows if self._peak else 0

    def _oldest_first(self) -> OrderedRows:
        if self._by_age is None:
            ordered = OrderedRows(lambda slots: self._order.keys(self.rows(slots)))
            ordered.reserve(self.capacity)
            slots = self.slots(0, self.end)
            sample = slots[:: max(1, len(slots) // _SAMPLE)]
            ordered.foresee(self._order.keys(self.rows(sample)), len(slots))
            for start in range(0, len(slots), _PIECE):
                piece = slots[start : start + _PIECE]
                ordered.put(piece, self._order.keys(self.rows(piece)))
            self._by_age = ordered
        return self._by_age

    def _drop(self, slots: Slots) -> ApplyResult:
        if not slots.size:
            return _NOTHING
        self._index.remove(slots)
        self._alive[slots] = False
        if self._by_age is not None:
            self._by_age.remove(slots)
        for column in self.columns.values():
            if isinstance(column, TextColumn):
                column.forget(slots)
        self._free.extend(slots.tolist())
        return ApplyResult(_NO_SLOTS, slots)

    def _enter(self, parts: Parts) -> Slots:
        """Slots for new rows; the same slot for the same id."""
        slots = self._new_slots(len(parts[0]))
        self._ids.store(slots, parts)
        given = self._index.add(parts, slots)
        self._alive[given] = True
        self._free.extend(slots[given != slots].tolist())
        return given

    def _new_slots(self, wanted: int) -> Slots:
        again = [self._free.pop() for _ in range(min(wanted, len(self._free)))]
        start, self.end = self.end, self.end + wanted - len(again)
        self._reserve(self.end)
        return np.concatenate((np.array(again, np.int64), np.arange(start, self.end)))

    def _reserve(self, needed: int) -> None:
        if needed <= self.capacity:
            return
        capacity = self._next_capacity(needed)
        self._stamps = sized(self._stamps, capacity, fill=0)
        self._births = sized(self._births, capacity, fill=0)
        self._alive = sized(self._alive, capacity, fill=False)
        self._ids.reserve(capacity)
        for column in self.columns.values():
            column.reserve(capacity)
        if self._by_age is not None:
            self._by_age.reserve(capacity)

    def _next_capacity(self, needed: int) -> int:
        """The next capacity: with spare room, but not beyond what the memory limit allows."""
        size = enough(self.capacity, needed)
        if self.max_bytes is None or not self.capacity:
            return size
        fits = self.capacity * self.max_bytes // self.nbytes
        return max(needed, min(size, fits))

    def _winners(self, batch: pa.RecordBatch, slots: Slots, known: Mask) -> Slots | None:
        """Positions in the batch that become rows; None if all do.

        Of several rows for one slot the one with the highest version is used, the later of equals,
        unless the stored version is higher.
        """
        alone = len(np.unique(slots)) == len(slots)
        if alone and (not self.table.version or not known.any()):
            return None
        versions = [_comparable(batch.column(name)) for name in self.table.version]
        chosen = np.arange(len(slots))
        if not alone:
            keys = [part for version in reversed(versions) for part in reversed(version)]
            ranked = np.lexsort((chosen, *keys, slots))
            last = np.append(slots[ranked][1:] != slots[ranked][:-1], True)
            chosen = np.sort(ranked[last])
        if self.table.version:
            held = chosen[known[chosen]]
            older = held[self._is_older(versions, slots, held)]
            chosen = np.setdiff1d(chosen, older, assume_unique=True)
        return chosen

    def _is_older(self, versions: _Versions, slots: Slots, rows: Slots) -> Mask:
        older = np.zeros(len(rows), bool)
        tied = np.ones(len(rows), bool)
        here = self.rows(slots[rows])
        for name, version in zip(self.table.version, versions, strict=True):
            values, valid = here.numbers(name)
            held = (np.ones(len(rows), bool) if valid is None else valid, values)
            for mine, theirs in zip((part[rows] for part in version), held, strict=True):
                theirs = np.where(held[0], theirs, 0)
                older |= tied & (mine < theirs)
                tied &= mine == theirs
        return older

    def _note_times(self, batch: pa.RecordBatch) -> None:
        times = in_memory(batch.column(self._time))
        if times.size:
            self._oldest = min(self._oldest, int(times.min()))
            self.newest = max(self.newest, int(times.max()))


_Versions = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]

_LOOK = 10_000
_SAMPLE = 16_384
_PIECE = 32_768
_NO_SLOTS: Slots = np.empty(0, np.int64)
_NOTHING = ApplyResult(_NO_SLOTS, _NO_SLOTS)


def _comparable(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort key with null lowest: whether there is a value, then the value."""
    valid = column.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
    return valid, np.where(valid, in_memory(column), 0)
