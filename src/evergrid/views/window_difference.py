"""The difference between two states of a window: rows that stay, and new or changed ones."""

from __future__ import annotations

import msgspec
import numpy as np

from evergrid.store.growing_array import Mask, Slots

# [start, count] of rows that stay, or [-1, count] of rows that are sent.
Parts = tuple[tuple[int, int], ...]
SENT = -1


class Difference(msgspec.Struct, frozen=True):
    """The new window from top to bottom: `source` has for each row the position it had, or
    SENT; `sent` the positions of those."""

    parts: Parts
    source: Slots
    sent: Slots


def difference(before: Slots, after: Slots, unchanged: Mask) -> Difference:
    """The difference from `before` to `after`; `unchanged` marks the rows of `after` that did not
    change."""
    source = np.full(len(after), SENT, np.int64)
    if len(before) and len(after):
        ranked = np.argsort(before, kind="stable")
        at = np.searchsorted(before, after, sorter=ranked)
        found = ranked[np.minimum(at, len(before) - 1)]
        stays = (before[found] == after) & unchanged
        source[stays] = found[stays]
    return Difference(_runs(source), source, np.flatnonzero(source == SENT))


def _runs(source: Slots) -> Parts:
    if not len(source):
        return ()
    here, there = source[1:], source[:-1]
    goes_on = np.where(there == SENT, here == SENT, here == there + 1)
    starts = np.append(0, np.flatnonzero(~goes_on) + 1)
    counts = np.diff(np.append(starts, len(source)))
    return tuple(zip(source[starts].tolist(), counts.tolist(), strict=True))
