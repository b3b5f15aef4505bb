"""A reference viewer: follows one window as a screen does, and checks the gateway's promises.

1. States never go back: not in time, and not in sequence while the gateway is the same one.
2. A window that showed rows does not go blank.
3. No error reaches the viewer, and its windows never end, whatever happens behind them.

with ViewerGroup(address, key) as viewers:
    viewer = viewers.add("final_ui", order="-balance", limit=50)
    …                                           # kill things
    viewer.wait_for(lambda window: window.live, seconds=60)
    viewers.check()                             # no promise was broken on the way
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypedDict, Unpack

import msgspec
import pyarrow as pa

from evergrid.client.address import Timeouts
from evergrid.client.async_client import AsyncClient, connect_async
from evergrid.client.async_windows import AsyncWindows
from evergrid.client.blocking_client import LoopThread
from evergrid.client.filters import Columns, Order, Where
from evergrid.client.live_window import LiveWindow
from evergrid.model.errors import EvergridError
from evergrid.protocol.messages import Live

Value = str | int | float | bool | None
Judge = Callable[[LiveWindow, LiveWindow], str]

_LOOK_SECONDS = 0.05


class Observation(msgspec.Struct, frozen=True):
    """One state of a window, with the monotonic time at which it was seen."""

    at: float
    state: Live
    message: str
    sequence: int
    generation: int
    rows: int
    total: int


class WindowOptions(TypedDict, total=False):
    """The arguments of `client.windows`."""

    columns: Columns | None
    where: Where
    search: str
    order: Order | None
    offset: int
    limit: int


def never_blank(before: LiveWindow, now: LiveWindow) -> str:
    """For views that are never empty again once they have rows."""
    if before.rows.num_rows and not now.rows.num_rows:
        return f"no rows in state {now.sequence} ({now.state.value}) after {before.rows.num_rows}"
    return ""


def never_fewer(before: LiveWindow, now: LiveWindow) -> str:
    """For views that only grow: one that is smaller was shown before it was loaded."""
    if now.total < before.total:
        return f"{now.total} rows in all after {before.total}"
    return ""


class Viewer:
    """Watches one window until it is closed; `faults` are sentences about broken promises."""

    def __init__(
        self, name: str, windows: AsyncWindows, judges: Sequence[Judge] = (never_blank,)
    ) -> None:
        self.name = name
        self.windows = windows
        self.sights: list[Observation] = []
        self.faults: list[str] = []
        self.newest: LiveWindow | None = None
        self._judges = judges
        self._was_away = False

    async def watch(self) -> None:
        try:
            async for window in self.windows:
                self.see(window)
        except EvergridError as error:
            self.faults.append(f"{type(error).__name__}: {error.sentence()}")

    def see(self, window: LiveWindow) -> None:
        """Record one more state, and check it against the one before."""
        before, self.newest = self.newest, window
        if before is not None:
            verdicts = [self._back(before, window), *(j(before, window) for j in self._judges)]
            self.faults.extend(verdict for verdict in verdicts if verdict)
        self.sights.append(
            Observation(
                at=time.monotonic(),
                state=window.state,
                message=window.message,
                sequence=window.sequence,
                generation=window.generation,
                rows=window.rows.num_rows,
                total=window.total,
            )
        )

    def _back(self, before: LiveWindow, now: LiveWindow) -> str:
        """States come in order; another gateway counts anew, but a break is seen before it."""
        self._was_away = self._was_away or before.state is Live.STALE
        if now.sequence < before.sequence and not self._was_away:
            return f"state {now.sequence} came after state {before.sequence}"
        if now.sequence != before.sequence:
            self._was_away = False
        if before.time is not None and now.time is not None and now.time < before.time:
            return f"a state of {now.time} came after one of {before.time}"
        return ""

    def wait_for(self, condition: Callable[[LiveWindow], bool], seconds: float) -> LiveWindow:
        """The newest window once it fits; from another thread than the one it watches on."""
        deadline = time.monotonic() + seconds
        while (newest := self.newest) is None or not condition(newest):
            if self.faults or time.monotonic() > deadline:
                raise AssertionError(f"{self.name}, {seconds:.0f} s: {self.story()}")
            time.sleep(_LOOK_SECONDS)
        return newest

    def story(self) -> str:
        """Its last states and the broken promises, for a test's failure message."""
        last = [
            f"{sight.state.value} {sight.message!r} #{sight.sequence} "
            f"{sight.rows} of {sight.total} rows"
            for sight in self.sights[-5:]
        ]
        return "\n  ".join([f"{len(self.sights)} states", *last, *self.faults])


class ViewerGroup:
    """Viewers in their own thread, each on its own connection."""

    def __init__(self, url: str, key: str, timeouts: Timeouts = Timeouts()) -> None:
        self._url = url
        self._key = key
        self._timeouts = timeouts
        self._background = LoopThread()
        self._clients: list[AsyncClient] = []
        self._watching: list[asyncio.Task[None]] = []
        self.viewers: list[Viewer] = []

    def add(
        self, table: str, judges: Sequence[Judge] = (never_blank,), **view: Unpack[WindowOptions]
    ) -> Viewer:
        """Add a viewer of a window of `table`."""

        async def open_window() -> Viewer:
            client = await connect_async(self._url, self._key, timeouts=self._timeouts)
            self._clients.append(client)
            viewer = Viewer(f"{table} {view}", client.windows(table, **view), judges)
            self._watching.append(asyncio.create_task(viewer.watch()))
            return viewer

        viewer = self._background.call(open_window)
        self.viewers.append(viewer)
        return viewer

    def check(self) -> None:
        """AssertionError with the viewers' broken promises, if there are any."""
        unhappy = [viewer for viewer in self.viewers if viewer.faults]
        if unhappy:
            raise AssertionError("\n".join(f"{v.name}: {v.story()}" for v in unhappy))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._background.stop(self._leave)

    async def _leave(self) -> None:
        for viewer in self.viewers:
            await viewer.windows.close()
        await asyncio.gather(*self._watching)
        for client in self._clients:
            await client.close()


def plain(rows: pa.Table) -> list[dict[str, Value]]:
    """Rows with values as the changelog and the oracle write them, in their order."""
    columns = {name: list(_values(rows.column(name))) for name in rows.column_names}
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _values(column: pa.ChunkedArray) -> Iterator[Value]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    for value in column.to_pylist():
        yield (
            format(value, "f") if pa.types.is_decimal(column.type) and value is not None else value
        )
