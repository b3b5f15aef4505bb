"""The newest rows in the table's order, with what has just changed in them."""

from __future__ import annotations

from evergrid.changelog.codec import Change, Row
from evergrid.config import load
from evergrid.demo.newest import MOST, NewestRows

JOINED = load(None, {}).joined_tables()[0]


def row(ts: int, balance: str | None = None, match: int | None = None) -> Row:
    return {
        "ts": ts,
        "balance": balance,
        "_users_partition": 0,
        "_users_offset": ts,
        "_accounts_ts": match,
        "_accounts_partition": 0,
        "_accounts_offset": match,
    }


def test_rows_stand_newest_first_and_older_ones_are_let_go() -> None:
    rows = NewestRows(JOINED)
    for ts in range(5 * MOST):
        rows.apply(Change(f"0:{ts}", row(ts)), now=0.0)
    assert [view.row["ts"] for view in rows.view(0.0, 3)] == [5 * MOST - n for n in (1, 2, 3)]
    assert len(rows.view(0.0)) == MOST


def test_a_change_shows_for_a_moment() -> None:
    rows = NewestRows(JOINED)
    rows.apply(Change("0:1", row(1)), now=0.0)
    rows.apply(Change("0:1", row(1, "5.00", match=2)), now=10.0)
    (view,) = rows.view(10.1)
    assert not view.new
    assert "balance" in view.changed
    assert "ts" not in view.changed
    assert not rows.view(12.0)[0].changed


def test_an_older_version_changes_nothing() -> None:
    rows = NewestRows(JOINED)
    rows.apply(Change("0:1", row(1, "5.00", match=9)), now=0.0)
    rows.apply(Change("0:1", row(1, "4.00", match=8)), now=1.0)
    assert rows.view(1.0)[0].row["balance"] == "5.00"


def test_a_deleted_row_is_gone() -> None:
    rows = NewestRows(JOINED)
    rows.apply(Change("0:1", row(1)), now=0.0)
    rows.apply(Change("0:1", None), now=0.0)
    assert rows.view(0.0) == ()
