"""Rows in order, without keeping them sorted.

The order is divided into buckets of a few thousand rows at known bounds. Each row has the
number of its bucket (two bytes), and each bucket the count of its rows. So a changed row costs
one search among the bounds; the bucket of a rank is found by adding up counts; and only the
buckets that are read are sorted, and stay sorted while they are read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evergrid.store.growing_array import Merge, Slots, sized
from evergrid.store.sort_keys import Keys

_ABSENT = -1
_SMALLEST_SPLIT = 4096
_BUCKETS = 1024  # about so many of many rows
_TOO_MANY = 8 * _BUCKETS
_KEPT_SORTED = 24
_IDLE = 32
_SAMPLE_PER_BUCKET = 16

_Fetch = Callable[[Slots], Keys]


@dataclass(slots=True)
class _Sorted:
    """One bucket's rows in order, with their keys."""

    slots: Slots
    keys: Keys
    idle: int = 0  # changes since it was read


class OrderedRows:
    """A set of slots in the order of the keys that `fetch` gives for them."""

    def __init__(self, fetch: _Fetch) -> None:
        self._fetch = fetch
        self._label: NDArray[np.int16] = np.empty(0, np.int16)
        self._labels = np.zeros(1, np.int16)  # by position in the order
        self._position = np.zeros(1, np.int64)  # by label
        self._counts = np.zeros(1, np.int64)  # by position
        self._bounds: Keys | None = None  # the first possible key of each bucket but the first
        self._free: list[int] = []
        self._sorted: OrderedDict[int, _Sorted] = OrderedDict()

    def __len__(self) -> int:
        return int(self._counts.sum())

    @property
    def nbytes(self) -> int:
        return int(self._label.nbytes)

    def reserve(self, capacity: int) -> None:
        self._label = sized(self._label, capacity, fill=_ABSENT)

    def contains(self, slots: Slots) -> NDArray[np.bool_]:
        return np.asarray(self._label[slots] != _ABSENT)

    def foresee(self, keys: Keys, rows: int) -> None:
        """Divide an empty order at the quantiles of a sample, for about `rows` expected rows."""
        buckets = min(_BUCKETS, rows // (_SMALLEST_SPLIT // 2), len(keys) // _SAMPLE_PER_BUCKET)
        if buckets < 2:
            return
        ranked = keys.sorted()
        cuts = ranked[np.arange(1, buckets) * len(ranked) // buckets]
        self._bounds = keys.take(cuts)
        self._labels = np.arange(buckets, dtype=np.int16)
        self._position = np.arange(buckets, dtype=np.int64)
        self._counts = np.zeros(buckets, np.int64)

    def put(self, slots: Slots, keys: Keys) -> None:
        """Add these rows, or move them to their new positions."""
        if not slots.size:
            return
        self.remove(slots)
        places = np.zeros(len(keys), np.int64)
        if self._bounds is not None:
            places = self._bounds.locate(keys)
        labels = self._labels[places]
        self._label[slots] = labels
        self._counts += np.bincount(places, minlength=len(self._counts))
        for label in self._touched(labels):
            mine = labels == label
            self._insert(label, slots[mine], keys.take(mine))
        self._forget_unlooked()
        self._split_where_full()

    def remove(self, slots: Slots) -> None:
        """Remove these rows; rows that are not here are ignored."""
        labels = self._label[slots]
        there = labels != _ABSENT
        if not there.any():
            return
        labels = labels[there]
        self._label[slots[there]] = _ABSENT
        places = self._position[labels]
        self._counts -= np.bincount(places, minlength=len(self._counts))
        for label in self._touched(labels):
            bucket = self._sorted[label]
            keep = self._label[bucket.slots] == label
            self._sorted[label] = _Sorted(
                bucket.slots[keep], bucket.keys.take(keep), bucket.idle + 1
            )
        self._drop_empty(places)

    def between(self, start: int, stop: int) -> Slots:
        """The slots of the rows from rank `start` up to `stop`."""
        ends = np.cumsum(self._counts)
        start, stop = max(start, 0), min(stop, int(ends[-1]))
        if start >= stop:
            return np.empty(0, np.int64)
        first = int(np.searchsorted(ends, start, "right"))
        last = int(np.searchsorted(ends, stop, "left"))
        before = int(ends[first] - self._counts[first])
        found = [self._bucket(place).slots for place in range(first, last + 1)]
        slots = found[0] if len(found) == 1 else np.concatenate(found)
        return slots[start - before : stop - before]

    def walk(self, start: int, stop: int) -> Iterator[Slots]:
        """Like `between`, bucket by bucket, for the rows that exist at the first step.

        Rows that change between two steps are ordered by their new values within their old
        bucket.
        """
        slots = np.flatnonzero(self._label != _ABSENT)
        places = self._position[self._label[slots]]
        slots = slots[np.argsort(places.astype(np.int16), kind="stable")]
        at = 0
        for count in self._counts.tolist():
            first, last = max(start - at, 0), min(stop - at, count)
            if first < last:
                bucket = slots[at : at + count]
                yield bucket[self._fetch(bucket).sorted()][first:last]
            at += count

    def _bucket(self, place: int) -> _Sorted:
        """A sorted bucket; the ones read last stay sorted."""
        label = int(self._labels[place])
        if label not in self._sorted:
            slots = np.flatnonzero(self._label == label)
            keys = self._fetch(slots)
            ranked = keys.sorted()
            self._sorted[label] = _Sorted(slots[ranked], keys.take(ranked))
        self._sorted.move_to_end(label)
        self._sorted[label].idle = 0
        if len(self._sorted) > _KEPT_SORTED:
            self._sorted.popitem(last=False)
        return self._sorted[label]

    def _touched(self, labels: NDArray[np.int16]) -> list[int]:
        """The sorted buckets among those with these labels."""
        is_sorted = np.zeros(len(self._position), bool)
        is_sorted[list(self._sorted)] = True
        named = labels[is_sorted[labels]]
        return [] if not named.size else np.unique(named).tolist()

    def _insert(self, label: int, slots: Slots, keys: Keys) -> None:
        ranked = keys.sorted()
        slots, keys = slots[ranked], keys.take(ranked)
        bucket = self._sorted[label]
        idle = bucket.idle + 1
        if not len(bucket.slots):
            self._sorted[label] = _Sorted(slots, keys, idle)
            return
        merge = Merge(len(bucket.slots), bucket.keys.locate(keys))
        merged = bucket.keys.merged(merge, keys)
        self._sorted[label] = _Sorted(merge(bucket.slots, slots), merged, idle)

    def _forget_unlooked(self) -> None:
        """Drop sorted buckets that nobody reads: updating them costs more than sorting again."""
        for label, bucket in list(self._sorted.items()):
            if bucket.idle > _IDLE:
                del self._sorted[label]

    def _split_where_full(self) -> None:
        most = max(_SMALLEST_SPLIT, 2 * len(self) // _BUCKETS)
        # From the end, so that positions before it stay valid.
        for place in np.flatnonzero(self._counts > most)[::-1]:
            self._split(int(place), most)
        if len(self._counts) > _TOO_MANY:
            self._begin_again()

    def _split(self, place: int, most: int) -> None:
        """Split a bucket into halves, or into more parts if it became very large at once."""
        was_sorted = int(self._labels[place]) in self._sorted
        bucket = self._bucket(place)
        rows = len(bucket.slots)
        pieces = 2 * -(-rows // most)
        cuts = np.arange(1, pieces) * rows // pieces
        edges = [0, *cuts.tolist(), rows]
        first = int(self._labels[place])
        labels = [first, *(self._new_label() for _ in cuts)]
        for label, start, end in zip(labels, edges, edges[1:], strict=False):
            self._label[bucket.slots[start:end]] = label
            part = _Sorted(bucket.slots[start:end], bucket.keys.take(np.arange(start, end)))
            if was_sorted:
                self._sorted[label] = part
            else:
                self._sorted.pop(label, None)
        bounds = bucket.keys.take(cuts)
        if self._bounds is not None:
            merge = Merge(len(self._bounds), np.full(len(cuts), place))
            bounds = self._bounds.merged(merge, bounds)
        self._bounds = bounds
        self._labels = np.insert(self._labels, place + 1, np.array(labels[1:], np.int16))
        self._counts = np.insert(self._counts, place + 1, np.diff(edges)[1:])
        self._counts[place] = edges[1]
        self._number_places()
        while len(self._sorted) > _KEPT_SORTED:
            self._sorted.popitem(last=False)

    def _begin_again(self) -> None:
        """Divide everything anew if removed rows have left many small buckets."""
        slots = np.flatnonzero(self._label != _ABSENT)
        self._label[slots] = _ABSENT
        self._labels, self._position = np.zeros(1, np.int16), np.zeros(1, np.int64)
        self._counts, self._bounds = np.zeros(1, np.int64), None
        self._free.clear()
        self._sorted.clear()
        self.put(slots, self._fetch(slots))

    def _drop_empty(self, places: Slots) -> None:
        """Remove empty buckets, except the last one."""
        gone = places[self._counts[places] == 0]
        if not gone.size or len(self._counts) == 1:
            return
        keep = np.ones(len(self._counts), bool)
        keep[gone] = False
        if not keep.any():
            keep[0] = True
        for label in self._labels[~keep].tolist():
            self._sorted.pop(label, None)
            self._free.append(label)
        kept = np.flatnonzero(keep)[1:]
        # Each bucket that stays begins at its own first key.
        self._bounds = (
            self._bounds.take(kept - 1) if self._bounds is not None and kept.size else None
        )
        self._labels, self._counts = self._labels[keep], self._counts[keep]
        self._number_places()

    def _new_label(self) -> int:
        if self._free:
            return self._free.pop()
        self._position = np.append(self._position, 0)
        return len(self._position) - 1

    def _number_places(self) -> None:
        self._position[self._labels] = np.arange(len(self._labels))
