"""The newest rows of a table, and what changed in them a moment ago."""

from __future__ import annotations

from collections.abc import Set

import msgspec

from evergrid.changelog.codec import Change, Row, Value, is_older
from evergrid.demo.view import RowView
from evergrid.model.table import Table

MOST = 200
FRESH_SECONDS = 1.0


class _Kept(msgspec.Struct, frozen=True):
    row: Row
    new_at: float
    changed_at: float = 0.0
    changed: Set[str] = frozenset()


class NewestRows:
    """Keeps the last rows in the table's default order; older ones are let go."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._kept: dict[str, _Kept] = {}

    def apply(self, change: Change, now: float) -> None:
        row = change.row
        if row is None:
            self._kept.pop(change.row_id, None)
            return
        known = self._kept.get(change.row_id)
        if known is None:
            self._kept[change.row_id] = _Kept(row, new_at=now)
            if len(self._kept) > 2 * MOST:
                self._kept = dict(self._in_order()[:MOST])
        elif not is_older(row, known.row, self._table):
            changed = frozenset(name for name in row if row[name] != known.row.get(name))
            if changed:
                self._kept[change.row_id] = _Kept(row, known.new_at, now, changed)

    def view(self, now: float, most: int = MOST) -> tuple[RowView, ...]:
        """At most so many rows, the newest first."""
        since = now - FRESH_SECONDS
        return tuple(
            RowView(
                row=kept.row,
                new=kept.new_at >= since,
                changed=kept.changed if kept.changed_at >= since else frozenset(),
            )
            for _, kept in self._in_order()[:most]
        )

    def _in_order(self) -> list[tuple[str, _Kept]]:
        return sorted(self._kept.items(), key=lambda item: self._place(item[1].row), reverse=True)

    def _place(self, row: Row) -> tuple[tuple[bool, Value], ...]:
        return tuple((row.get(name) is not None, row.get(name)) for name in self._table.order)
