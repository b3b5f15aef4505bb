"""Many viewers in a process of their own: `Crowd` starts it, `python -m tests.system.crowd` is it.

They talk by lines of JSON: the first says where to look and at what, each further one what
every window must show; the answer comes when they all do, or when time is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import msgspec

from evergrid.client.async_client import AsyncClient, connect_async
from tests.support.reference_viewer import Viewer, WindowOptions, never_blank, plain
from tests.system.conftest import PATIENCE
from tests.system.staged import TABLE, never_younger

_AT_ONCE = 30  # who connect side by side
_LOOK_SECONDS = 0.05

Expected = list[list[dict[str, object]]]


class Task(msgspec.Struct, frozen=True):
    address: str
    secret: str
    views: list[dict[str, object]]
    count: int


class Question(msgspec.Struct, frozen=True):
    expected: Expected
    seconds: float


class Report(msgspec.Struct, frozen=True):
    """How many show what they must; what the others and the unhappy say; states seen in all."""

    right: int
    stories: list[str]
    states: int


class Crowd:
    """`count` viewers, each on a connection of its own; the views go round among them."""

    def __init__(
        self, address: str, secret: str, views: Sequence[WindowOptions], count: int
    ) -> None:
        self.views = views
        self.count = count
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  # closed at the end
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.system.crowd"],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
        )
        self._send(Task(address, secret, [dict(view) for view in views], count))

    def ask(self, expected: Expected, seconds: float) -> None:
        """Have them compare; `hear` tells what came of it."""
        self._send(Question(expected, seconds))

    def hear(self) -> Report:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the crowd ended with {self._process.wait()}: {self._last_words()}"
        return msgspec.json.decode(line, type=Report)

    def leave(self) -> None:
        """All go, as clients that close their windows do."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(PATIENCE) == 0

    def _last_words(self) -> str:
        self._complaints.seek(0)
        return self._complaints.read().decode(errors="replace")[-3000:]

    def _send(self, message: Task | Question) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(message) + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._complaints.close()


class _Members:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._viewers: list[Viewer] = []
        self._clients: list[AsyncClient] = []
        self._watching: list[asyncio.Task[None]] = []
        self._door = asyncio.Semaphore(_AT_ONCE)

    async def come(self) -> None:
        await asyncio.gather(*(self._come(number) for number in range(self._task.count)))

    async def _come(self, number: int) -> None:
        async with self._door:
            client = await connect_async(self._task.address, self._task.secret)
        view = cast(WindowOptions, self._task.views[number % len(self._task.views)])
        judges = (never_blank, never_younger)
        viewer = Viewer(str(number), client.windows(TABLE, **view), judges)
        self._clients.append(client)
        self._viewers.append(viewer)
        self._watching.append(asyncio.create_task(viewer.watch()))

    async def compare(self, question: Question) -> Report:
        deadline = asyncio.get_running_loop().time() + question.seconds
        wrong = list(self._viewers)
        while wrong and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_LOOK_SECONDS)
            wrong = [viewer for viewer in wrong if not self._is_right(viewer, question.expected)]
        unhappy = [viewer for viewer in self._viewers if viewer in wrong or viewer.faults]
        return Report(
            right=len(self._viewers) - len(wrong),
            stories=[f"{viewer.name}: {viewer.story()}" for viewer in unhappy[:5]],
            states=sum(len(viewer.sights) for viewer in self._viewers),
        )

    def _is_right(self, viewer: Viewer, expected: Expected) -> bool:
        window = viewer.newest
        if window is None or not window.live:
            return False
        return plain(window.rows) == expected[int(viewer.name) % len(expected)]

    async def go(self) -> None:
        for viewer in self._viewers:
            await viewer.windows.close()
        await asyncio.gather(*self._watching)
        await asyncio.gather(*(client.close() for client in self._clients))


async def _main() -> None:
    members = _Members(msgspec.json.decode(sys.stdin.buffer.readline(), type=Task))
    await members.come()
    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        report = await members.compare(msgspec.json.decode(line, type=Question))
        print(json.dumps(msgspec.to_builtins(report)), flush=True)
    await members.go()


if __name__ == "__main__":
    asyncio.run(_main())
