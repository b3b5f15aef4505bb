"""What the page's figures make of what was seen, and that a real Chromium can be asked for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest
from bench.browser import Holding, Inspector, Traced, Work, open_browser, read_trace
from bench.cells import CELLS, COLUMNS, ROWS, Board
from bench.figure import Value
from bench.grid import Plan, Seen, changing_table, look
from bench.latency import Stream
from bench.witness import Sight, watched_of
from playwright.sync_api import Browser

from bench import grid, painted, witness

SINCE = 1_790_000_000_000_000
MILLISECOND = 1000
AT_ONCE = Plan(warm=0, idle=1, busy=1, moving=1)

SMALL_SCREEN = """
<div class="ag-grid-viewport" style="height: 40px; overflow: hidden">
  <div class="ag-cell" col-id="kind" style="height: 20px">a</div>
  <div class="ag-cell" col-id="kind" style="height: 20px">b</div>
  <div class="ag-cell" col-id="kind" style="height: 20px">below</div>
  <div class="ag-cell" col-id="other" style="height: 20px">c</div>
</div>
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as running:
        yield running


def amounts(found: tuple[Value, ...]) -> dict[str, float]:
    return {value.name: value.amount for value in found}


def test_each_change_is_of_so_many_cells_and_moves_no_row() -> None:
    board = Board()
    for _ in range(20):
        before = deepcopy(board.rows)
        touched = board.change()
        changed = [
            (number, name)
            for number in range(ROWS)
            for name in before[number]
            if board.rows[number][name] != before[number][name]
        ]
        assert len(changed) == CELLS
        assert {name for _, name in changed} <= set(COLUMNS)
        assert len(touched) == len({number for number, _ in changed})


def trace(*events: dict[str, object]) -> bytes:
    threads = [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": {"name": name}}
        for tid, name in ((1, "CrRendererMain"), (2, "Compositor"))
    ]
    return json.dumps({"traceEvents": [*threads, *events], "metadata": {}}).encode()


def task(tid: int, microseconds: int) -> dict[str, object]:
    words = {"name": "ThreadControllerImpl::RunTask", "ph": "X", "cat": "toplevel"}
    return {**words, "pid": 1, "tid": tid, "ts": 5, "dur": microseconds, "args": {"src": {}}}


def test_only_tasks_of_the_main_thread_hold_up_a_page() -> None:
    frame = {"name": "DrawFrame", "ph": "I", "pid": 1, "tid": 2, "ts": 6}
    found = read_trace(trace(task(1, 800), task(1, 12_500), task(2, 90_000), frame, frame))
    assert found == Traced(longest=12.5, frames=2)
    with pytest.raises(LookupError, match="main thread"):
        read_trace(trace(task(2, 1)))


def test_shares_are_of_the_time_that_was_watched() -> None:
    start = Work(at=100.0, tasks=1.0, scripts=0.5, layout=0.2, cpu=2.0, windows=7)
    rested = Work(at=110.0, tasks=1.1, scripts=0.5, layout=0.2, cpu=2.1, windows=7)
    ended = Work(at=130.0, tasks=3.1, scripts=1.5, layout=0.6, cpu=7.1, windows=207)
    seen = Seen(
        idle=(start, rested, Traced(1.0, 0)),
        busy=(rested, ended, Traced(14.2, 400)),
        before=Holding(8 * 1024**2, 1000, 300),
        after=Holding(9 * 1024**2, 1001, 300),
        drawn=30,
        moving=59.9,
    )
    found = amounts(grid.values(seen))
    assert found["main thread"] == pytest.approx(10)
    assert found["of it scripts"] == pytest.approx(5)
    assert found["main thread idle"] == pytest.approx(1)
    assert found["to idle"] == pytest.approx(10)
    assert found["updates"] == pytest.approx(10)
    assert found["frames drawn"] == pytest.approx(20)
    assert found["cores to draw it"] == pytest.approx(0.25)
    assert (found["heap before"], found["heap after"]) == (8, 9)


def test_a_row_is_as_old_as_its_stamp_when_it_is_painted() -> None:
    painted_ms = SINCE // MILLISECOND + 40
    sights = [
        Sight(painted_ms, ["savings", str(SINCE - 1), str(SINCE), str(SINCE + 25_000)]),
        Sight(painted_ms + 16, [str(SINCE + 26_000)]),
    ]
    watched = watched_of(sights, SINCE)
    assert watched.age_us == [40_000, 15_000, 30_000]
    assert watched.accounts == 3


def test_what_passed_unseen_counts_until_something_newer_was_painted() -> None:
    first, unseen, last = SINCE, SINCE + 10_000, SINCE + 90_000
    seen = Stream(
        arrived_us=[first + 30_000, last + 20_000],
        age_us=[30_000, 20_000],
        sent_per_second=1000.0,
        missing=1,
        cores=0.5,
    )
    found = amounts(painted.values(seen, [SINCE - 5_000_000, last, unseen, first]))
    assert (found["rows seen"], found["passed unseen"]) == (2, 1)
    assert (found["p50"], found["max"]) == (20, 30)
    assert found["max of all"] == 100


def test_the_witness_sees_what_is_in_sight_once_and_after_it_was_drawn(browser: Browser) -> None:
    page = browser.new_page()
    page.goto("about:blank")
    page.add_script_tag(path=Path(witness.__file__).with_name("witness.js"))
    page.set_content(SMALL_SCREEN)
    looking = "() => witness('kind').flatMap(([, texts]) => texts)"
    seen: list[str] = page.evaluate(looking)
    page.wait_for_function("() => (window.found ??= []).push(...witness('kind')) >= 1")
    seen += page.evaluate("() => window.found.flatMap(([, texts]) => texts)")
    assert seen == ["a", "b"]
    page.evaluate("() => (document.querySelector('.ag-cell').textContent = 'new')")
    page.wait_for_function("() => (window.more ??= []).push(...witness('kind')) >= 1")
    ((painted_ms, texts),) = page.evaluate("() => window.more")
    assert texts == ["new"]
    assert abs(painted_ms - page.evaluate("() => Date.now()")) < 60_000
    page.close()


def test_a_page_with_changing_cells_can_be_measured(browser: Browser) -> None:
    with changing_table() as table:
        place = table.place()
        inspector = Inspector(browser)
        inspector.show(place.address, place.key, f"/tables/{place.table}")
        seen = look(table, inspector, AT_ONCE)
        inspector.page.close()
    _, busy, traced = seen.busy
    assert busy.windows > 0
    assert traced.longest > 0
    assert 0 < seen.drawn <= ROWS
    assert seen.moving > 0
    assert seen.after.heap_bytes > 0
    assert seen.after.nodes <= seen.before.nodes * 1.5
