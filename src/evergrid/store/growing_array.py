"""Arrays that grow by at least half their size, so that appending stays cheap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FIRST = 1024

# Columns differ in what their arrays hold; everything that indexes them does not care.
Values = NDArray[Any]
Slots = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Merge:
    """Puts some entries between others, in as many arrays as there are columns.

    The first of `at`, which does not fall, goes before the entry that is there, and so on.
    """

    def __init__(self, size: int, at: Slots) -> None:
        self._new = at + np.arange(len(at))
        self._old = np.ones(size + len(at), bool)
        self._old[self._new] = False

    def __call__(self, values: Values, others: Values) -> Values:
        merged = np.empty(len(self._old), values.dtype)
        merged[self._old] = values
        merged[self._new] = others
        return merged


def enough(have: int, needed: int) -> int:
    """How many entries to make room for, when there is room for `have` and `needed` are."""
    return max(needed, have + have // 2, _FIRST)


def grown(values: Values, needed: int, fill: float | None = None) -> Values:
    """`values` with room for `needed` entries and some more; itself if it has that."""
    return values if needed <= len(values) else sized(values, enough(len(values), needed), fill)


def sized(values: Values, size: int, fill: float | None = None) -> Values:
    """`values` with `size` entries, new ones set to `fill`; itself if it has that."""
    have = len(values)
    if size <= have:
        return values
    larger = np.empty((size, *values.shape[1:]), values.dtype)
    larger[:have] = values
    if fill is not None:
        larger[have:] = fill
    return larger
