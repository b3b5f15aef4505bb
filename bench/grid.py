"""What a window of changing cells costs the browser that shows it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from bench.browser import HEIGHT, Holding, Inspector, Traced, Work, open_browser
from bench.cells import CELLS, COLUMNS, EVERY_SECONDS, ROWS, Place, Serving, Ticks
from bench.figure import Bench, Cases, Value
from bench.helper import Helper
from bench.screen import say
from evergrid.model.errors import LinkError

_START_SECONDS = 60.0
_STOP_SECONDS = 30.0
_LOOK_SECONDS = 0.05
_TALL = 9_000  # more pixels than 300 rows have
_DRAWN = "() => document.querySelectorAll('.eg-grid .ag-row').length"
_NOTHING_LIT = "() => !document.querySelector('.eg-flash')"
_MOVING = """
(milliseconds) => new Promise((resolve) => {
  const began = performance.now();
  let frames = 0;
  const frame = (now) => {
    frames += 1;
    if (now - began < milliseconds) requestAnimationFrame(frame);
    else resolve((1000 * frames) / (now - began));
  };
  requestAnimationFrame(frame);
})
"""


class Plan(msgspec.Struct, frozen=True):
    """For how many seconds cells change before, not at all, while it counts, and in motion."""

    warm: int
    idle: int
    busy: int
    moving: int


FULL = Plan(warm=10, idle=20, busy=60, moving=10)
QUICK = Plan(warm=1, idle=2, busy=10, moving=2)


class Seen(msgspec.Struct, frozen=True):
    """What the browser said: work and trace of both parts, what it held before and after."""

    idle: tuple[Work, Work, Traced]
    busy: tuple[Work, Work, Traced]
    before: Holding
    after: Holding
    drawn: int
    moving: float


class ChangingTable:
    """A table of another process, whose cells change when they are told to."""

    def __init__(self, folder: Path) -> None:
        self._place, self._go, self._stop = (folder / name for name in ("place", "go", "stop"))
        self.task = Serving(str(self._place), str(self._go), str(self._stop))

    def place(self) -> Place:
        deadline = time.monotonic() + _START_SECONDS
        while not self._place.exists():
            if time.monotonic() > deadline:
                raise LinkError("the table is not served yet")
            time.sleep(_LOOK_SECONDS)
        return msgspec.json.decode(self._place.read_bytes(), type=Place)

    def go(self) -> None:
        self._go.touch()

    def rest(self) -> None:
        self._go.unlink(missing_ok=True)

    def end(self) -> None:
        self._stop.touch()


@contextmanager
def changing_table() -> Iterator[ChangingTable]:
    """Served until the end of the block; fails when its cells never changed."""
    with tempfile.TemporaryDirectory(prefix="evergrid-bench-") as name:
        table = ChangingTable(Path(name))
        with Helper(table.task, Ticks, Path(name)) as serving:
            yield table
            table.end()
            if not serving.result(_STOP_SECONDS).count:
                raise LinkError("no cell has changed")


def cases(quick: bool) -> Cases:
    plan = QUICK if quick else FULL
    found = {
        "scrolled": partial(_measure, "", HEIGHT, plan),
        f"a page of {ROWS}": partial(_measure, f"?page={ROWS}", HEIGHT, plan),
    }
    if not quick:
        found[f"all {ROWS} drawn"] = partial(_measure, "", _TALL, plan)
    return found


def _measure(words: str, height: int, plan: Plan) -> tuple[Value, ...]:
    with changing_table() as table, open_browser() as browser:
        place = table.place()
        inspector = Inspector(browser, height)
        inspector.show(place.address, place.key, f"/tables/{place.table}{words}")
        return values(look(table, inspector, plan))


def look(table: ChangingTable, inspector: Inspector, plan: Plan) -> Seen:
    page = inspector.page
    say(f"  {plan.warm} seconds to warm up, {plan.idle} idle, {plan.busy} with changes")
    table.go()
    page.wait_for_timeout(plan.warm * 1000)
    _rest(table, inspector)
    before = inspector.holding()
    idle = inspector.watch(plan.idle)
    table.go()
    busy = inspector.watch(plan.busy)
    moving = page.evaluate(_MOVING, plan.moving * 1000)
    drawn = page.evaluate(_DRAWN)
    _rest(table, inspector)
    return Seen(idle, busy, before, inspector.holding(), drawn, moving)


def _rest(table: ChangingTable, inspector: Inspector) -> None:
    """No more changes, and the last ones no longer marked."""
    table.rest()
    inspector.page.wait_for_timeout(2 * EVERY_SECONDS * 1000)
    inspector.page.wait_for_function(_NOTHING_LIT)


def values(seen: Seen) -> tuple[Value, ...]:
    began, ended, traced = seen.busy
    seconds = ended.at - began.at
    busy, idle = _share(began.tasks, ended.tasks, seconds), _idle(seen.idle)
    before, after = seen.before, seen.after
    return (
        Value("rows drawn", seen.drawn),
        Value("updates", (ended.windows - began.windows) / seconds, "/s", digits=1),
        Value("main thread", busy, "%", digits=1),
        Value("of it scripts", _share(began.scripts, ended.scripts, seconds), "%", digits=1),
        Value("of it layout", _share(began.layout, ended.layout, seconds), "%", digits=1),
        Value("main thread idle", idle, "%", digits=2),
        Value("to idle", busy / idle if idle else 0.0, digits=0),
        Value("longest task", traced.longest, "ms", digits=1),
        Value("frames drawn", traced.frames / seconds, "/s", digits=1),
        Value("frames in motion", seen.moving, "/s", digits=1),
        Value("cores to draw it", (ended.cpu - began.cpu) / seconds, digits=2),
        Value("heap before", before.heap_bytes / 1024**2, "MB", digits=1),
        Value("heap after", after.heap_bytes / 1024**2, "MB", digits=1),
        Value("nodes before", before.nodes),
        Value("nodes after", after.nodes),
        Value("listeners before", before.listeners),
        Value("listeners after", after.listeners),
    )


def _share(before: float, after: float, seconds: float) -> float:
    return 100 * (after - before) / seconds


def _idle(watched: tuple[Work, Work, Traced]) -> float:
    before, after, _ = watched
    return _share(before.tasks, after.tasks, after.at - before.at)


BENCH = Bench(
    "grid",
    "A page with changing cells",
    f"A window of {ROWS} rows × {len(COLUMNS) + 1} columns on a table's page in Chromium, "
    f"{CELLS} cells of it changing every {EVERY_SECONDS * 1000:.0f} ms: the share of its time "
    "that the page's main thread works, beside the share of the same page without changes; its "
    "longest task; frames drawn, and frames that a page has when something on it moves all the "
    "time; JavaScript heap, DOM nodes and listeners before and after, without garbage. Rows "
    "drawn are those that have elements: the ones in sight, and 8 around them.",
    cases,
)
