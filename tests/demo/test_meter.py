"""A table's figures: rows once each, how fast they come, how long they took."""

from __future__ import annotations

import pytest

from evergrid.changelog.codec import Change, Row
from evergrid.config import load
from evergrid.demo.arrivals import Arrival
from evergrid.demo.meter import Meter

JOINED = load(None, {}).joined_tables()[0]
NOW = 1_800_000_000.0


def arrival(row_id: str, sent: float | None, live: bool = True) -> Arrival:
    row: Row | None = None if sent is None else {"ts": 1, "_accounts_ts": round(sent * 1_000_000)}
    return Arrival("final_ui", Change(row_id, row), 0, live)


def test_nothing_has_come_yet() -> None:
    view = Meter(JOINED).view(NOW)
    assert (view.rows, view.per_second, view.delay_ms, view.age_seconds) == (0, 0.0, None, None)


def test_a_row_counts_once_and_no_more_when_it_is_deleted() -> None:
    meter = Meter(JOINED)
    for row_id in ("0:1", "0:2", "0:1"):
        meter.count(arrival(row_id, NOW), NOW)
    assert meter.view(NOW).rows == 2
    meter.count(arrival("0:2", None), NOW)
    meter.count(arrival("0:9", None), NOW)
    assert meter.view(NOW).rows == 1


def test_the_delay_is_measured_from_the_newest_message_of_a_row() -> None:
    meter = Meter(JOINED)
    for delay in (0.040, 0.050, 9.0):
        meter.count(arrival(f"0:{delay}", NOW - delay), NOW)
    assert meter.view(NOW).delay_ms == pytest.approx(50, abs=0.1)
    assert meter.view(NOW).age_seconds == pytest.approx(0.040, abs=0.001)
    assert meter.view(NOW + 60).delay_ms is None


def test_the_past_is_counted_but_not_timed() -> None:
    meter = Meter(JOINED)
    meter.count(arrival("0:1", NOW - 1000, live=False), NOW)
    view = meter.view(NOW + 1)
    assert (view.rows, view.per_second, view.delay_ms) == (1, 0.0, None)


def test_the_rate_is_that_of_the_last_whole_seconds() -> None:
    meter = Meter(JOINED)
    for second in range(20):
        for number in range(10):
            meter.count(arrival(f"{second}:{number}", NOW), NOW + second)
    assert meter.view(NOW + 20).per_second == pytest.approx(10)
    assert meter.view(NOW + 19.5).per_second == pytest.approx(10)
    assert meter.view(NOW + 100).per_second == 0
