"""A Chromium that shows a gateway's page, and what it says of its own work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from playwright.sync_api import Browser, CDPSession, Error, Page, WebSocket, sync_playwright
from tests.browser.chromium import chromium, flags, is_root

from evergrid.gateway.http.assets import FOLDER, load
from evergrid.model.errors import ConfigError, LinkError

WIDTH, HEIGHT = 1280, 800
_SHOWN_MILLISECONDS = 60_000.0
# Each task of every thread, and each frame that is drawn.
_TRACED = ["toplevel", "disabled-by-default-devtools.timeline.frame"]
_MAIN_THREAD, _TASK, _FRAME = "CrRendererMain", "ThreadControllerImpl::RunTask", "DrawFrame"


class Work(msgspec.Struct, frozen=True):
    """What a page's main thread has done so far, in seconds, and the CPU of all that draws it.

    `windows` is how many states of windows have come to it.
    """

    at: float
    tasks: float
    scripts: float
    layout: float
    cpu: float
    windows: int


class Holding(msgspec.Struct, frozen=True):
    """What a page holds once all garbage is gone."""

    heap_bytes: float
    nodes: float
    listeners: float


class Traced(msgspec.Struct, frozen=True):
    """The longest task of a main thread in milliseconds, and how many frames were drawn."""

    longest: float
    frames: int


class _Words(msgspec.Struct, frozen=True):
    name: str = ""


class _Event(msgspec.Struct, gc=False):
    name: str
    pid: int
    tid: int
    dur: float = 0.0
    args: _Words = _Words()


class _Trace(msgspec.Struct):
    events: list[_Event] = msgspec.field(name="traceEvents")


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A Chromium of its own; what goes wrong in it is an error of ours, as for every figure."""
    if not load(FOLDER).page:
        raise ConfigError("there is no web page to measure", remedy="Build it: make web")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium(), args=flags(), chromium_sandbox=not is_root()
        )
        try:
            yield browser
        except Error as error:
            raise LinkError(error.message.splitlines()[0], where="the browser") from None
        finally:
            browser.close()


class Inspector:
    """Opens a page, counts what comes to it, and asks the browser what it costs."""

    def __init__(self, browser: Browser, height: int = HEIGHT) -> None:
        self.page: Page = browser.new_page(viewport={"width": WIDTH, "height": height})
        self.page.on("websocket", self._connected)
        self._windows = 0
        self._browser = browser
        self._whole: CDPSession = browser.new_browser_cdp_session()
        self._own: CDPSession = self.page.context.new_cdp_session(self.page)
        self._own.send("Performance.enable")

    def show(self, address: str, key: str, path: str) -> None:
        """Go there as somebody with a key, and wait for the first row."""
        self.page.goto(f"{address}{path}#key={key}")
        self.page.locator(".ag-row .ag-cell").first.wait_for(timeout=_SHOWN_MILLISECONDS)

    def work(self) -> Work:
        counted = self._counted()
        return Work(
            at=counted["Timestamp"],
            tasks=counted["TaskDuration"],
            scripts=counted["ScriptDuration"],
            layout=counted["LayoutDuration"] + counted["RecalcStyleDuration"],
            cpu=sum(
                process["cpuTime"]
                for process in self._whole.send("SystemInfo.getProcessInfo")["processInfo"]
                if process["type"] in ("renderer", "GPU")
            ),
            windows=self._windows,
        )

    def holding(self) -> Holding:
        self._own.send("HeapProfiler.collectGarbage")
        counted = self._counted()
        return Holding(counted["JSHeapUsedSize"], counted["Nodes"], counted["JSEventListeners"])

    def watch(self, seconds: float) -> tuple[Work, Work, Traced]:
        """What is done in the next seconds: before, after, and a trace of the time between."""
        self._browser.start_tracing(page=self.page, categories=_TRACED)
        before = self.work()
        self.page.wait_for_timeout(seconds * 1000)
        after = self.work()
        return before, after, read_trace(self._browser.stop_tracing())

    def _counted(self) -> dict[str, float]:
        answer = self._own.send("Performance.getMetrics")
        return {metric["name"]: metric["value"] for metric in answer["metrics"]}

    def _connected(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._received)

    def _received(self, frame: str | bytes) -> None:
        """Windows come as bytes; the rest of the conversation is text."""
        self._windows += isinstance(frame, bytes)


def read_trace(trace: bytes) -> Traced:
    events = msgspec.json.decode(trace, type=_Trace).events
    main = {(e.pid, e.tid) for e in events if e.name == "thread_name" and _is_main(e)}
    tasks = [e.dur for e in events if e.name == _TASK and (e.pid, e.tid) in main]
    if not tasks:
        raise LookupError("the browser's trace has no task of a page's main thread")
    return Traced(max(tasks) / 1000, sum(event.name == _FRAME for event in events))


def _is_main(event: _Event) -> bool:
    return event.args.name == _MAIN_THREAD
