"""A window keeps its newest state, and says only what is new about it."""

from __future__ import annotations

import random

import pytest

from evergrid.gateway.engine.publication import WindowPublication
from evergrid.gateway.engine.shared_view import PublicationTime, SharedWindow
from evergrid.protocol import frames
from evergrid.protocol.frames import FrameKind
from evergrid.store.table_store import ApplyResult, TableStore
from evergrid.views.view import View
from evergrid.views.view_query import Window
from tests.store import making
from tests.support.naive_table import Value

FRAME_BYTES = 2**20
TABLE = making.made_table(version=False)


def rows(*offsets: int) -> list[dict[str, Value]]:
    blank: dict[str, Value] = {column.name: None for column in TABLE.columns}
    return [blank | {"partition": 0, "offset": offset, "ts": offset} for offset in offsets]


class Looking:
    """A store, a view of all of it, and time that moves a second with every look."""

    def __init__(self, *offsets: int) -> None:
        self.store = TableStore(TABLE)
        self.tick = 1
        self.now = 0.0
        self.admits = True
        self.store.upsert(making.batch(TABLE, rows(*offsets)), self.tick)
        self.view = View(self.store, None, "", ())
        self.view.grow()

    def upsert(self, *offsets: int) -> None:
        self.put(rows(*offsets))

    def put(self, rows: list[dict[str, Value]]) -> None:
        self.tick += 1
        self._follow(self.store.upsert(making.batch(TABLE, rows), self.tick))

    def delete(self, *ids: str) -> None:
        self.tick += 1
        self._follow(self.store.delete(ids))

    def _follow(self, applied: ApplyResult) -> None:
        self.view.update(self.store.rows(applied.changed), applied.removed)
        while not self.view.complete:
            self.view.grow()

    def refresh(self, pane: SharedWindow, seconds: float = 1.0) -> WindowPublication | None:
        self.now += seconds
        moment = PublicationTime(int(self.now * 1000), self.tick, self.now, 0)
        return pane.refresh(self.store, self.view, 1, moment, lambda size: self.admits)

    def ids(self, pane: SharedWindow) -> list[str]:
        publication = self.refresh(pane)
        assert publication is not None
        ids: list[str] = publication.rows.column("_id").to_pylist()
        return ids


@pytest.mark.parametrize(
    ("window", "offsets", "start"),
    [
        (Window(0, 3), [1, 2, 3], 0),
        (Window(3, 3), [4, 5], 3),
        (Window(5, 3), [], 5),
        (Window(99, 3), [], 99),
        (Window(0, 0), [], 0),
        (Window(-2, 2), [4, 5], 3),
        (Window(-2, 1), [4], 3),
        (Window(-2, 99), [4, 5], 3),
        (Window(-99, 2), [1, 2], 0),
    ],
)
def test_a_window_is_anywhere(window: Window, offsets: list[int], start: int) -> None:
    looking = Looking(1, 2, 3, 4, 5)
    pane = SharedWindow((), window, FRAME_BYTES)
    assert looking.ids(pane) == [f"0:{offset}" for offset in offsets]
    assert pane.publication is not None
    assert (pane.publication.header.offset, pane.publication.header.total) == (start, 5)


def test_a_window_counted_from_the_end_moves_with_it() -> None:
    looking = Looking(1, 2, 3)
    pane = SharedWindow((), Window(-2, 2), FRAME_BYTES)
    assert looking.ids(pane) == ["0:2", "0:3"]
    looking.upsert(4)
    assert looking.ids(pane) == ["0:3", "0:4"]
    looking.delete("0:4", "0:3", "0:2")
    assert looking.ids(pane) == ["0:1"]
    looking.delete("0:1")
    assert looking.ids(pane) == []


def test_nothing_new_is_nothing_to_say() -> None:
    looking = Looking(1, 2, 3)
    pane = SharedWindow((), Window(0, 2), FRAME_BYTES)
    assert looking.refresh(pane) is not None
    assert looking.refresh(pane) is None
    looking.upsert(3)
    assert looking.refresh(pane) is None
    looking.upsert(2)
    assert looking.refresh(pane) is not None


def test_a_row_in_the_place_of_one_that_is_gone_is_sent() -> None:
    looking = Looking(1, 2, 3)
    pane = SharedWindow((), Window(0, 3), FRAME_BYTES)
    looking.refresh(pane)
    looking.delete("0:2")
    looking.upsert(7)
    assert looking.ids(pane) == ["0:1", "0:3", "0:7"]
    assert pane.publication is not None
    assert pane.publication.difference is not None
    shared = frames.decode(frames.addressed(1, pane.publication.difference))
    assert shared.description.parts == ((0, 1), (2, 1), (-1, 1))


def test_a_total_alone_waits_a_moment() -> None:
    looking = Looking(1, 2, 3)
    pane = SharedWindow((), Window(0, 2), FRAME_BYTES)
    looking.refresh(pane)
    looking.upsert(4)
    assert looking.refresh(pane, 0.1) is None
    assert pane.late
    publication = looking.refresh(pane, 0.5)
    assert publication is not None
    assert publication.header.total == 4
    assert publication.header.kind is FrameKind.DIFFERENCE


def test_a_full_window_is_encoded_once_and_whatever_came_as_a_difference_can_be_had_whole() -> None:
    looking = Looking(1, 2, 3)
    pane = SharedWindow(("text",), Window(0, 3), FRAME_BYTES)
    first = looking.refresh(pane)
    assert first is not None
    assert first.difference is None
    assert first.full() is first.full()
    looking.upsert(2)
    second = looking.refresh(pane)
    assert second is not None
    assert (second.base, second.header.kind) == (first.sequence, FrameKind.DIFFERENCE)
    whole = frames.decode(frames.addressed(7, second.full()))
    assert (whole.sub, whole.header.kind, whole.header.base) == (7, FrameKind.FULL, 0)
    assert whole.header.sequence == second.sequence
    assert [column.name for column in whole.description.columns] == ["text"]


def test_no_frame_has_more_bytes_than_were_added_up() -> None:
    rng = random.Random(20_261_118)
    for _ in range(20):
        looking = Looking()
        pane = SharedWindow((), Window(0, 30), FRAME_BYTES)
        for _ in range(3):
            looking.put([making.random_row(rng, TABLE) for _ in range(20)])
            publication = looking.refresh(pane)
            if publication is not None:
                assert len(publication.full()) <= publication.most_bytes
                assert len(publication.difference or b"") <= publication.most_bytes


@pytest.mark.parametrize(("window", "shown"), [(Window(0, 9), [1, 2]), (Window(-9, 9), [8, 9])])
def test_of_rows_that_are_too_wide_together_some_are_shown(
    window: Window, shown: list[int]
) -> None:
    looking = Looking()
    looking.put([{**row, "text": "é" * 200_000} for row in rows(*range(1, 10))])
    pane = SharedWindow((), window, FRAME_BYTES)
    assert looking.ids(pane) == [f"0:{offset}" for offset in shown]
    assert pane.missing == 7
    assert looking.refresh(pane) is None


def test_nothing_is_built_without_consent() -> None:
    looking = Looking(1, 2)
    pane = SharedWindow((), Window(0, 2), FRAME_BYTES)
    looking.admits = False
    assert looking.refresh(pane) is None
    assert pane.publication is None
    looking.admits = True
    assert looking.ids(pane) == ["0:1", "0:2"]
