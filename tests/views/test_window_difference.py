"""A difference leads from one state of a window to the next, in as few parts as can be."""

from __future__ import annotations

import random

import numpy as np
import pytest

from evergrid.views.window_difference import SENT, Difference, difference

SEED = 20_261_116


def made(before: list[int], after: list[int], changed: tuple[int, ...] = ()) -> Difference:
    slots = np.array(after, np.int64)
    return difference(np.array(before, np.int64), slots, ~np.isin(slots, changed))


@pytest.mark.parametrize(
    ("before", "after", "changed", "parts"),
    [
        ([], [], (), ()),
        ([1, 2], [], (), ()),
        ([], [1, 2], (), ((SENT, 2),)),
        ([1, 2, 3], [1, 2, 3], (), ((0, 3),)),
        ([1, 2, 3], [1, 2, 3], (2,), ((0, 1), (SENT, 1), (2, 1))),
        ([1, 2, 3], [9, 1, 2], (), ((SENT, 1), (0, 2))),
        ([1, 2, 3], [2, 3, 9], (), ((1, 2), (SENT, 1))),
        ([1, 2, 3], [3, 2, 1], (), ((2, 1), (1, 1), (0, 1))),
        ([5, 1], [1, 5, 7, 8], (), ((1, 1), (0, 1), (SENT, 2))),
    ],
)
def test_rows_that_stay_are_taken_over_and_the_others_sent(
    before: list[int],
    after: list[int],
    changed: tuple[int, ...],
    parts: tuple[tuple[int, int], ...],
) -> None:
    assert made(before, after, changed).parts == parts


def test_random_differences_lead_where_they_should() -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    for _ in range(500):
        before = rng.sample(range(30), rng.randrange(20))
        after = rng.sample(range(30), rng.randrange(20))
        changed = tuple(rng.sample(range(30), 5))
        change = made(before, after, changed)
        sent = [after[i] for i in change.sent.tolist()]
        built: list[int] = []
        fresh = iter(sent)
        for start, count in change.parts:
            part = (
                before[start : start + count] if start >= 0 else [next(fresh) for _ in range(count)]
            )
            assert len(part) == count > 0
            built += part
        assert built == after
        assert next(fresh, None) is None
        assert set(sent) == {slot for slot in after if slot not in before or slot in changed}
        joins = zip(change.parts, change.parts[1:], strict=False)
        assert all(a[0] + a[1] != b[0] if a[0] >= 0 else b[0] >= 0 for a, b in joins)
