"""What live views cost: per batch of changes, and to make a new one."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.figure import Bench, Cases, Value
from bench.helper import Helper
from bench.viewing import Batches, Cost, Costs, Created, Creating

_UPSERTS = (1_000, 10_000)
_ROUNDS = 15
_VIEWS = (1, 10, 50)
_LIMIT_SECONDS = 900.0


def cases(quick: bool) -> Cases:
    rows = 100_000 if quick else 1_000_000
    small, large = (50_000, 500_000) if quick else (500_000, 5_000_000)
    found: dict[str, partial[tuple[Value, ...]]] = {
        f"{views} different, {rows:,} rows": partial(_batches, rows, views) for views in _VIEWS
    }
    most = 5 if quick else _VIEWS[-1]
    found[f"{most} different, {small:,} and {large:,} rows"] = partial(_ratio, small, large, most)
    for size in (rows,) if quick else (rows, large):
        found[f"a new one, {size:,} rows"] = partial(_creating, size)
    return found


def _batches(rows: int, views: int) -> tuple[Value, ...]:
    costs = _costs(Batches(rows, views, _UPSERTS, _ROUNDS))
    return batch_values(costs, views * rows)


def _ratio(small: int, large: int, views: int) -> tuple[Value, ...]:
    few, many = (
        _costs(Batches(rows, views, _UPSERTS[:1], _ROUNDS)).costs[0] for rows in (small, large)
    )
    return ratio_values(few, many)


def batch_values(costs: Costs, entries: int) -> tuple[Value, ...]:
    """`entries` is in how many places a row of the table stands in a view's order."""
    found = []
    for cost in costs.costs:
        size = f"{cost.upserts:,} upserts"
        found += [
            _milliseconds(size, cost.whole),
            _milliseconds(f"{size}: store", cost.apply),
            _milliseconds(f"{size}: views", cost.views),
            _milliseconds(f"{size}: frames", cost.publish),
        ]
    return (
        *found,
        Value("frames a batch", costs.costs[0].frames),
        Value("view memory", costs.view_bytes / entries, "bytes/row", digits=1),
        _milliseconds("first expiry", costs.retention),
    )


def ratio_values(few: Cost, many: Cost) -> tuple[Value, ...]:
    size = f"{few.upserts:,} upserts"
    return (
        _milliseconds(f"{size}, fewer rows", few.whole),
        _milliseconds(f"{size}, ten times the rows", many.whole),
        Value("ratio", many.whole / few.whole, digits=2),
    )


def creation_values(created: Sequence[Created]) -> tuple[Value, ...]:
    return (
        *(Value(one.name, one.seconds, "s", digits=2) for one in created),
        _milliseconds("longest piece", max(one.longest for one in created)),
    )


def _creating(rows: int) -> tuple[Value, ...]:
    with (
        tempfile.TemporaryDirectory(prefix="evergrid-bench-") as folder,
        Helper(Creating(rows), list[Created], Path(folder)) as helper,
    ):
        return creation_values(helper.result(_LIMIT_SECONDS))


def _costs(task: Batches) -> Costs:
    with (
        tempfile.TemporaryDirectory(prefix="evergrid-bench-") as folder,
        Helper(task, Costs, Path(folder)) as helper,
    ):
        return helper.result(_LIMIT_SECONDS)


def _milliseconds(name: str, seconds: float) -> Value:
    return Value(name, seconds * 1000, "ms", digits=1)


BENCH = Bench(
    "views",
    "Live views",
    "CPU of one batch of upserts, a fifth of them new rows, while so many different views "
    "(orders and filters over seven columns) each show 300 rows; the table is at its retention, "
    "so a new row drives an old one out. The store, the views and the frames that come of it "
    "are counted; the median of 15 batches. A new one: seconds from the wish to the first window "
    "of several kinds of views, and the longest piece of work that this was done in.",
    cases,
)
