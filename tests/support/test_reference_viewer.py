"""The reference viewer complains about exactly what breaks a promise."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from evergrid.client import Live, LiveWindow
from evergrid.client.live_window import moment
from evergrid.config import load
from tests.client.people import person
from tests.support.local_gateway import LocalGateway
from tests.support.reference_viewer import ViewerGroup, never_blank, never_fewer, plain

LIMIT = 60.0
TABLE = "users_ui"


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    users = next(table for table in load(None, {}).raw_tables() if table.name == TABLE)
    with LocalGateway(tmp_path) as running:
        running.place(users, [person(number) for number in range(10)])
        yield running


def test_who_sees_what_was_promised_has_nothing_to_say(gateway: LocalGateway) -> None:
    with ViewerGroup(gateway.address, gateway.secret) as audience:
        viewer = audience.add(TABLE, (never_blank, never_fewer), order="-age", limit=3)
        window = viewer.wait_for(lambda window: window.live, LIMIT)
        assert [row["age"] for row in plain(window.rows)] == [9, 8, 7]
        gateway.upsert(TABLE, [person(10)])
        viewer.wait_for(lambda window: window.total == 11, LIMIT)
        gateway.stop()
        viewer.wait_for(lambda window: window.state is Live.STALE, LIMIT)
        gateway.start()
        viewer.wait_for(lambda window: window.live, LIMIT)
        audience.check()


def test_blank_and_shrinking_windows_are_complained_about(gateway: LocalGateway) -> None:
    with ViewerGroup(gateway.address, gateway.secret) as audience:
        blank = audience.add(TABLE)
        fewer = audience.add(TABLE, (never_fewer,))
        for viewer in (blank, fewer):
            viewer.wait_for(lambda window: window.live, LIMIT)
        gateway.delete(TABLE, [f"0:{number}" for number in range(10)])
        for viewer in (blank, fewer):
            with pytest.raises(AssertionError, match="after 10"):
                viewer.wait_for(lambda _: False, LIMIT)
        assert blank.faults == ["no rows in state 2 (live) after 10"]
        assert fewer.faults == ["0 rows in all after 10"]
        with pytest.raises(AssertionError, match="0 rows in all after 10"):
            audience.check()


def test_an_error_is_complained_about(gateway: LocalGateway) -> None:
    with ViewerGroup(gateway.address, gateway.secret) as audience:
        viewer = audience.add(TABLE, columns=["nonsense"])
        with pytest.raises(AssertionError, match="nonsense"):
            viewer.wait_for(lambda _: False, LIMIT)
        assert viewer.faults[0].startswith("Rejected: ")


def state(sequence: int, live: Live = Live.LIVE, second: int = 0) -> LiveWindow:
    return LiveWindow(
        TABLE,
        pa.table({"_id": ["0:1"]}),
        total=1,
        generation=1,
        sequence=sequence,
        time=moment(1_767_225_600_000_000 + second),
        state=live,
        message="",
        stale_since=moment(1) if live is Live.STALE else None,
    )


@pytest.mark.parametrize(
    ("states", "fault"),
    [
        ([state(5), state(4)], "state 4 came after state 5"),
        ([state(5), state(5), state(6)], ""),
        ([state(5), state(5, Live.STALE), state(5, Live.LOADING), state(1)], ""),
        ([state(5, Live.STALE), state(6), state(5)], "state 5 came after state 6"),
        ([state(5, second=1), state(6)], "came after one of"),
    ],
)
def test_states_that_go_back_are_complained_about(
    gateway: LocalGateway, states: list[LiveWindow], fault: str
) -> None:
    with ViewerGroup(gateway.address, gateway.secret) as audience:
        viewer = audience.add("nobody")
        for one in states:
            viewer.see(one)
        assert bool(viewer.faults) == bool(fault)
        assert fault in "".join(viewer.faults)
        viewer.faults.clear()


def test_plain_rows_have_the_values_of_the_changelog() -> None:
    moment = datetime.datetime(2026, 1, 1, 0, 0, 0, 5, tzinfo=datetime.UTC)
    rows = pa.table(
        {
            "ts": pa.array([moment, None], pa.timestamp("us", "UTC")),
            "balance": pa.array([Decimal("0.50"), None], pa.decimal128(18, 2)),
            "name": ["Ann", None],
        }
    )
    assert plain(rows) == [
        {"ts": 1_767_225_600_000_005, "balance": "0.50", "name": "Ann"},
        {"ts": None, "balance": None, "name": None},
    ]
