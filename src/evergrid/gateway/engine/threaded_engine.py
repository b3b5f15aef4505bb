"""The engine: tables and views in threads of their own, so that the event loop never waits.

Data flows through three threads in one direction: the feed's thread reads and parses changes,
the engine's thread applies them and updates the views, the event loop sends. The loop gives the
engine jobs and gets results and deliveries back as callbacks. Changes and finished sends are done
first, then clients' requests for a limited time, in turns over their keys. One batch of
publications is under way at a time: what changes while the loop sends it goes into the next batch.
"""

from __future__ import annotations

import asyncio
import functools
import queue
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from typing import NoReturn, TypeVar

import pyarrow as pa

from evergrid.changelog.feed import Feed, FeedUpdate, Key
from evergrid.config.settings import Settings
from evergrid.gateway.engine.changelog_follower import ChangelogFollower, Segment
from evergrid.gateway.engine.deliveries import Deliver, Delivery, Owner, Rejected, SubscriberId
from evergrid.gateway.engine.engine_delay import BusyStates, EngineDelay
from evergrid.gateway.engine.export import Export
from evergrid.gateway.engine.hub import Hub
from evergrid.gateway.engine.hub_types import HubLimits
from evergrid.gateway.engine.request_queue import Job, RequestQueue
from evergrid.gateway.engine.shared_view import PublicationTime
from evergrid.gateway.engine.table_engine import EngineLoad, PipelineInfo, TableInfo
from evergrid.gateway.engine.table_manager import TableManager
from evergrid.gateway.engine.window_bytes import ByteLimits
from evergrid.protocol.messages import Resume
from evergrid.views.view_query import Query, Window

Log = Callable[[str], None]
Answer = TypeVar("Answer")

_IDLE_SECONDS = 0.5
_HOUSEKEEPING_SECONDS = 1.0
_CHECK_SECONDS = 0.5
_BUSY_SECONDS = 0.02  # of jobs in a row before changes are published
_REQUEST_SECONDS = 0.01  # of clients' requests in a row; one that is begun is finished
_QUEUED_BATCHES = 8  # from the feed, that the engine has not applied yet


class ThreadedEngine:
    """A `TableEngine` that follows the changelogs in Kafka."""

    def __init__(self, settings: Settings, log: Log) -> None:
        gateway = settings.gateway
        self.instance = secrets.token_hex(8)
        self._log = log
        feed = Feed(settings.kafka.internal, settings.internal_topics.prefix, log)
        self._follower = ChangelogFollower(feed, self._enqueue_changes, self._enqueue_state, log)
        self._hub = Hub(
            HubLimits(
                frame_seconds=gateway.frame_interval_ms / 1000,
                linger_seconds=gateway.linger_seconds,
                max_views=gateway.limits.views,
                max_views_per_key=gateway.limits.views_per_key,
                bytes=ByteLimits.of(gateway.limits),
            )
        )
        self._delay = EngineDelay()
        self._manager = TableManager(self._hub, gateway.table_bytes, self._delay)
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._requests = RequestQueue()
        self._keys: dict[SubscriberId, str] = {}  # of subscribers; used on the event loop alone
        self._busy = BusyStates(self._delay, log)
        self._tables: Sequence[TableInfo] = ()
        self._queue_slots = threading.Semaphore(_QUEUED_BATCHES)
        self._stopping = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deliver: Deliver | None = None
        self._threads: list[threading.Thread] = []
        self._in_flight = 0  # batches of deliveries that the loop has not finished sending
        self._sent_at = 0.0
        self._not_before = 0.0
        self._next_housekeeping = 0.0
        self._view_seconds = 0.0
        self._failed = asyncio.Event()
        self.failure: Exception | None = None

    # Called on the event loop

    def start(self, deliver: Deliver) -> None:
        """Start both threads; `deliver` is called on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._deliver = deliver
        feed = functools.partial(self._follower.run, self._stopping)
        for name, run in (("evergrid-feed", feed), ("evergrid-engine", self._run)):
            thread = threading.Thread(target=self._run_thread, args=(run,), name=name, daemon=True)
            self._threads.append(thread)
            thread.start()
        self._loop.call_later(_CHECK_SECONDS, self._check_delay)

    def open(
        self,
        subscriber: SubscriberId,
        query: Query,
        window: Window,
        resume: Resume | None,
        owner: Owner,
    ) -> None:
        again = resume is not None
        known = resume.sequence if resume and resume.instance == self.instance else None
        self._keys[subscriber] = owner.key
        self._busy.open(subscriber)
        self._request(
            owner.key,
            lambda: self._hub.open(
                subscriber, query, window, known, self._moment(), again=again, owner=owner
            ),
        )

    def move(self, subscriber: SubscriberId, window: Window) -> None:
        key = self._keys.get(subscriber, "")
        self._request(key, lambda: self._hub.move(subscriber, window, self._moment()))

    def close(self, subscriber: SubscriberId) -> None:
        key = self._keys.pop(subscriber, "")
        self._busy.close(subscriber)
        self._request(key, lambda: self._hub.close(subscriber, time.monotonic()))

    async def tables(self) -> Sequence[TableInfo]:
        """All tables, by name; as they were before, while the engine is too late to answer."""
        if not (self._busy.is_late and self._tables):
            self._tables = await self._ask(self._manager.tables)
        return [self._busy.told(table) for table in self._tables]

    async def pipeline(self) -> PipelineInfo:
        """The health of the pipeline that writes the tables, and its generations."""
        return await self._ask(self._manager.pipeline)

    async def export(self, query: Query, window: Window | None) -> AsyncIterator[pa.RecordBatch]:
        """Rows in batches, the first one empty; LookupError if there is no such table."""
        export = await self._ask(lambda: self._start_export(query, window))
        try:
            while not export.prepared:
                await self._ask(export.prepare)
            while (batch := await self._ask(export.step)) is not None:
                yield batch
        finally:
            self._jobs.put(lambda: self._hub.exports.discard(export))

    def load(self) -> EngineLoad:
        return EngineLoad(
            hub=self._hub.counts(),
            view_seconds=self._view_seconds,
            rows_applied=self._manager.rows_applied,
            ready=self._manager.ready,
            message=self._manager.message,
            public_message=self._manager.public_message,
            delay_seconds=self._delay.seconds,
            manifest_skipped=self._manager.manifest_skipped,
        )

    async def failed(self) -> NoReturn:
        """Wait until a thread fails, which is a bug, and raise its error."""
        await self._failed.wait()
        assert self.failure is not None
        raise self.failure

    async def stop(self) -> None:
        """End both threads."""
        self._stopping.set()
        self._jobs.put(None)
        self._queue_slots.release()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _check_delay(self) -> None:
        """Tell windows whether the engine is late; again and again until it is stopped."""
        assert self._loop is not None
        assert self._deliver is not None
        if self._stopping.is_set():
            return
        if deliveries := self._busy.check():
            self._deliver(deliveries)
        self._loop.call_later(_CHECK_SECONDS, self._check_delay)

    def _request(self, key: str, job: Job) -> None:
        """Queue a client's request, and wake the engine's thread."""
        self._requests.put(key, job)
        self._jobs.put(_nothing)

    async def _ask(self, job: Callable[[], Answer]) -> Answer:
        """Do the job in the engine's thread and await its result."""
        future: Future[Answer] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except Exception as error:
                    future.set_exception(error)

        self._jobs.put(work)
        return await asyncio.wrap_future(future)

    # The engine's thread

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._do_jobs()
            self._do_requests()
            self._do_housekeeping()
            began = time.thread_time()
            building = self._hub.build_views()
            if not self._in_flight and time.monotonic() >= self._not_before:
                self._hub.publish(self._moment())
                self._delay.set_publishing(on_time=True)
            elif self._delay.is_publishing and self._is_publication_due():
                self._delay.set_publishing(on_time=False)
            self._view_seconds += time.thread_time() - began
            self._send(self._hub.deliveries())
            for lines in (self._hub.problems, self._manager.log_lines):
                while lines:
                    self._log(lines.pop(0))
            if building or self._requests:
                self._jobs.put(_nothing)  # do not wait for a job: there is more to do

    def _is_publication_due(self) -> bool:
        due = self._hub.due()
        return due is not None and due <= time.monotonic()

    def _do_jobs(self) -> None:
        """Wait for a job, then do all that are queued, for a limited time."""
        try:
            job = self._jobs.get(timeout=self._wait_seconds())
            until = time.monotonic() + _BUSY_SECONDS
            while job is not None:
                job()
                if time.monotonic() > until:
                    break
                job = self._jobs.get_nowait()
        except queue.Empty:
            pass

    def _do_requests(self) -> None:
        """Do what clients ask for, in turns over their keys, for a limited time."""
        until = time.monotonic() + _REQUEST_SECONDS
        while job := self._requests.take():
            job()
            if time.monotonic() > until:
                break

    def _wait_seconds(self) -> float:
        """How long to wait for a job: until the next publication is due."""
        due = self._hub.due()
        if due is None or self._in_flight:
            return _IDLE_SECONDS
        wait = max(due, self._not_before) - time.monotonic()
        return min(max(0.0, wait), _IDLE_SECONDS)

    def _do_housekeeping(self) -> None:
        now = time.monotonic()
        if now >= self._next_housekeeping:
            self._next_housekeeping = now + _HOUSEKEEPING_SECONDS
            self._manager.expire()
            self._manager.report_states()

    def _send(self, deliveries: Sequence[Delivery]) -> None:
        if not deliveries:
            return
        self._in_flight += 1
        self._sent_at = time.monotonic()
        self._call_on_loop(lambda: self._hand_over(deliveries))

    def _hand_over(self, deliveries: Sequence[Delivery]) -> None:
        """On the event loop. Who was rejected is not closed, so its key is forgotten here."""
        for delivery in deliveries:
            if isinstance(delivery, Rejected):
                self._keys.pop(delivery.subscriber, None)
        assert self._deliver is not None
        told = [self._busy.passed(delivery) for delivery in deliveries]
        self._deliver(told, lambda: self._jobs.put(self._finish_send))

    def _finish_send(self) -> None:
        """The loop has sent a batch: leave it as much time again for other work."""
        self._in_flight -= 1  # state changes are sent at once, so several can be under way
        now = time.monotonic()
        self._not_before = now + (now - self._sent_at)

    def _start_export(self, query: Query, window: Window | None) -> Export:
        store = self._manager.store(query.table)
        if store is None:
            raise LookupError(query.table)
        export = Export(store, query, window, self._hub.tick)
        self._hub.exports.add(export)
        return export

    def _moment(self) -> PublicationTime:
        return PublicationTime(0, self._hub.tick, time.monotonic(), time.time_ns() // 1000)

    def _run_thread(self, run: Callable[[], None]) -> None:
        """A thread that fails ends the engine: nobody must look at tables that no longer move."""
        try:
            run()
        except Exception as error:
            self.failure = error
            self._call_on_loop(self._failed.set)

    def _call_on_loop(self, callback: Callable[[], None]) -> None:
        """Have the event loop call it; stop if the loop is closed."""
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            self._stopping.set()

    # The feed's thread

    def _enqueue_changes(self, key: Key, segments: Sequence[Segment], unreadable: int) -> None:
        """Queue a batch for the engine; wait while it is too far behind."""

        def work() -> None:
            began = time.thread_time()
            self._manager.apply(key, segments, unreadable)
            self._view_seconds += time.thread_time() - began
            self._queue_slots.release()
            self._delay.on_applied()

        self._delay.on_read()
        self._queue_slots.acquire()
        self._jobs.put(work)

    def _enqueue_state(self, feed: FeedUpdate) -> None:
        self._jobs.put(lambda: self._manager.update(feed))


def _nothing() -> None:
    """A job that wakes the engine's thread."""
