"""The little arithmetic behind the figures. Pure: numbers in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the sorted values do not exceed.

    Nearest rank: always a value that was really measured, never a mean of two.
    """
    if not ordered:
        raise ValueError("a percentile of nothing")
    if not 0 < share <= 1:
        raise ValueError(f"a share between 0 and 1, not {share}")
    # Rounded first, because 0.07 * 100 is a little more than 7.
    return ordered[math.ceil(round(share * len(ordered), 9)) - 1]


def crossing(course: Iterable[tuple[float, float]], level: float) -> float:
    """The x at which y first reaches `level`, on straight lines between the points seen."""
    last: tuple[float, float] | None = None
    for x, y in course:
        if y >= level:
            if last is None or y == last[1]:
                return x
            return last[0] + (x - last[0]) * (level - last[1]) / (y - last[1])
        last = (x, y)
    raise ValueError(f"it never reaches {level}")


def at(course: Sequence[tuple[float, float]], x: float) -> float:
    """The y at `x`, on straight lines between the points seen."""
    for (x0, y0), (x1, y1) in pairwise(course):
        if x0 <= x <= x1:
            return y1 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    raise ValueError(f"{x} is outside of what was seen")


def longest_gap(times: Iterable[float]) -> float:
    """The longest time in which nothing came, between the first and the last."""
    return max((after - before for before, after in pairwise(sorted(times))), default=0.0)


def delays(sent: Iterable[float], seen: Sequence[tuple[float, float]]) -> list[float]:
    """How long until each thing sent was seen: `seen` are (when, the newest thing seen then).

    Something that was never seen itself was seen with the first newer one; what nothing
    newer followed is left out.
    """
    ordered = sorted(seen)
    found: list[float] = []
    place = 0
    for moment in sorted(sent):
        while place < len(ordered) and ordered[place][1] < moment:
            place += 1
        if place < len(ordered):
            found.append(ordered[place][0] - moment)
    return found
