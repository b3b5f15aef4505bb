"""The tables and their views in a thread of their own, so that the event loop never waits.

Three threads, one direction: the feed's reads and parses changes; the engine's applies them
and keeps the views; the event loop sends. The loop asks the engine by jobs, and gets answers
and deliveries back as callbacks. Publications are handed over one lot at a time: while the
loop is busy with one, what happens meanwhile becomes part of the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import NoReturn, TypeVar

import pyarrow as pa

from evergrid.changelog.feed import Feed, Key
from evergrid.config.settings import Settings
from evergrid.gateway.engine.changelog_follower import Intake
from evergrid.gateway.engine.deliveries import Deliver, Delivery, Load, TableInfo, Ticket
from evergrid.gateway.engine.export import Export
from evergrid.gateway.engine.hub import Hub, Pace
from evergrid.gateway.engine.pipeline_health import PipelineInfo
from evergrid.gateway.engine.shared_window import Moment
from evergrid.gateway.engine.table_manager import Keeper, Segment, Situation
from evergrid.protocol.messages import Resume
from evergrid.views.query import Query, Window

Say = Callable[[str], None]
Answer = TypeVar("Answer")

_IDLE_SECONDS = 0.5
_HOUSEKEEPING_SECONDS = 1.0
_BUSY_SECONDS = 0.02  # jobs in a row before what changed is published
_AHEAD = 8  # batches that the feed may be ahead of the engine


class Engine:
    """Asked from the event loop; every method returns at once or is awaited."""

    def __init__(self, settings: Settings, say: Say) -> None:
        gateway = settings.gateway
        self.instance = secrets.token_hex(8)
        self._say = say
        feed = Feed(settings.kafka.internal, settings.internal_topics.prefix, say)
        self._intake = Intake(feed, self._take_in, self._turn, say)
        pace = Pace(
            frame_seconds=gateway.frame_interval_ms / 1000,
            linger_seconds=gateway.linger_seconds,
            max_views=gateway.limits.views,
        )
        self._hub = Hub(pace)
        self._keeper = Keeper(self._hub, gateway.table_bytes)
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(_AHEAD)
        self._stopping = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deliver: Deliver | None = None
        self._threads: list[threading.Thread] = []
        self._lots = 0  # handed over, and not done with by the loop
        self._handed_over_at = 0.0
        self._not_before = 0.0
        self._next_housekeeping = 0.0
        self._view_seconds = 0.0
        self._failed = asyncio.Event()
        self.failure: Exception | None = None

    # Called on the event loop

    def start(self, deliver: Deliver) -> None:
        """Begin; `deliver` is called on the running loop with what there is to send."""
        self._loop = asyncio.get_running_loop()
        self._deliver = deliver
        for name, run in (("evergrid-feed", self._run_feed), ("evergrid-engine", self._run)):
            thread = threading.Thread(target=run, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def open(self, ticket: Ticket, query: Query, window: Window, resume: Resume | None) -> None:
        ours = resume is not None and resume.instance == self.instance
        sequence = resume.sequence if ours and resume is not None else None
        again = resume is not None
        self._jobs.put(
            lambda: self._hub.open(ticket, query, window, sequence, self._moment(), again=again)
        )

    def move(self, ticket: Ticket, window: Window) -> None:
        self._jobs.put(lambda: self._hub.move(ticket, window, self._moment()))

    def close(self, ticket: Ticket) -> None:
        self._jobs.put(lambda: self._hub.close(ticket, time.monotonic()))

    async def tables(self) -> Sequence[TableInfo]:
        """Every table that has a name now, by name."""
        return await self._ask(self._keeper.tables)

    async def pipeline(self) -> PipelineInfo:
        """How the pipeline is that writes them, and its generations."""
        return await self._ask(self._keeper.pipeline)

    async def export(self, query: Query, window: Window | None) -> AsyncIterator[pa.RecordBatch]:
        """Rows in batches, the first one empty; LookupError when there is no such table."""
        export = await self._ask(lambda: self._begin_export(query, window))
        try:
            while not export.prepared:
                await self._ask(export.prepare)
            while (batch := await self._ask(export.step)) is not None:
                yield batch
        finally:
            self._jobs.put(lambda: self._hub.exports.remove(export))

    def load(self) -> Load:
        counts = self._hub.counts()
        return Load(
            views=counts["views"],
            windows=counts["windows"],
            tickets=counts["tickets"],
            view_seconds=self._view_seconds,
            publications=counts["sequence"],
            rows_applied=self._keeper.rows_applied,
            stalest_since=self._keeper.fresh_at,
            ready=self._keeper.ready,
            message=self._keeper.message,
        )

    async def failed(self) -> NoReturn:
        """Wait for what ends the engine, which should never be, and raise it."""
        await self._failed.wait()
        assert self.failure is not None
        raise self.failure

    async def stop(self) -> None:
        """End both threads."""
        self._stopping.set()
        self._jobs.put(None)
        self._room.release()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    async def _ask(self, job: Callable[[], Answer]) -> Answer:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()

        def settle(answer: Answer | None, error: BaseException | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(answer)  # type: ignore[arg-type]

        def work() -> None:
            try:
                answer, error = job(), None
            except Exception as problem:
                answer, error = None, problem
            self._call(lambda: settle(answer, error))

        self._jobs.put(work)
        return await future

    # The engine's thread

    def _run(self) -> None:
        with self._watched():
            self._work()

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._do_jobs()
            self._keep_house()
            began = time.thread_time()
            growing = self._hub.grow()
            if not self._lots and time.monotonic() >= self._not_before:
                self._hub.publish(self._moment())
            self._view_seconds += time.thread_time() - began
            self._hand_over(self._hub.deliveries())
            for lines in (self._hub.problems, self._keeper.notices):
                while lines:
                    self._say(lines.pop(0))
            if growing:
                self._jobs.put(lambda: None)  # do not wait for a job: there is work

    def _do_jobs(self) -> None:
        """Wait for a job, do it and what else has come, but not for too long."""
        try:
            job = self._jobs.get(timeout=self._patience())
            until = time.monotonic() + _BUSY_SECONDS
            while job is not None:
                job()
                if time.monotonic() > until:
                    break
                job = self._jobs.get_nowait()
        except queue.Empty:
            pass

    def _patience(self) -> float:
        due = self._hub.due()
        now = time.monotonic()
        if due is None or self._lots:
            return _IDLE_SECONDS
        return min(max(0.0, max(due, self._not_before) - now), _IDLE_SECONDS)

    def _keep_house(self) -> None:
        now = time.monotonic()
        if now >= self._next_housekeeping:
            self._next_housekeeping = now + _HOUSEKEEPING_SECONDS
            self._keeper.expire()
            self._keeper.look()

    def _hand_over(self, deliveries: Sequence[Delivery]) -> None:
        if not deliveries:
            return
        self._lots += 1
        self._handed_over_at = time.monotonic()
        self._call(lambda: self._receive(deliveries))

    def _receive(self, deliveries: Sequence[Delivery]) -> None:
        """On the loop: deliver, and tell the engine when the senders have had their turn."""
        assert self._deliver is not None
        self._deliver(deliveries, lambda: self._jobs.put(self._take_breath))

    def _take_breath(self) -> None:
        """The loop is done with a lot: leave it as much time for other things."""
        self._lots -= 1  # words go out at once, so there may be several on the way
        now = time.monotonic()
        self._not_before = now + (now - self._handed_over_at)

    def _begin_export(self, query: Query, window: Window | None) -> Export:
        store = self._keeper.store(query.table)
        if store is None:
            raise LookupError(query.table)
        export = Export(store, query, window, self._hub.tick)
        self._hub.exports.append(export)
        return export

    def _apply(self, key: Key, made: Sequence[Segment]) -> None:
        began = time.thread_time()
        self._keeper.apply(key, made)
        self._view_seconds += time.thread_time() - began

    def _moment(self) -> Moment:
        return Moment(0, self._hub.tick, time.monotonic(), time.time_ns() // 1000)

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """A thread that falls takes the engine with it: nobody must look at tables that stand."""
        try:
            yield
        except Exception as error:
            self.failure = error
            self._call(self._failed.set)

    def _call(self, callback: Callable[[], None]) -> None:
        """Have the loop call it; a loop that is closed has nobody left to tell."""
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            self._stopping.set()

    # The feed's thread

    def _run_feed(self) -> None:
        with self._watched():
            self._intake.run(self._stopping)

    def _take_in(self, key: Key, made: Sequence[Segment]) -> None:
        self._queue(lambda: self._apply(key, made))

    def _turn(self, situation: Situation) -> None:
        self._jobs.put(lambda: self._keeper.turn(situation))

    def _queue(self, job: Callable[[], None]) -> None:
        """Hand a batch to the engine, as soon as it is not too far behind."""

        def work() -> None:
            job()
            self._room.release()

        self._room.acquire()
        self._jobs.put(work)
