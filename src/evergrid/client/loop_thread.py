"""An event loop in a thread of its own, for programs without one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

from evergrid.client.client_errors import closed

T = TypeVar("T")

Work = Callable[[], Coroutine[object, object, T]]


class LoopThread:
    """Runs coroutines on its loop while the caller waits."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        self._last_call: Callable[[], Awaitable[None]] | None = None
        self._lock = threading.Lock()  # no call starts after `stop`
        started: Future[None] = Future()
        # A daemon, so that a program that does not close its client can end.
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._main(started)), name="evergrid client", daemon=True
        )
        self._thread.start()
        started.result()

    async def _main(self, started: Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        started.set_result(None)
        await self._end.wait()
        if self._last_call is not None:
            await self._last_call()

    @property
    def running(self) -> bool:
        return self._loop is not None

    def call(self, work: Work[T]) -> T:
        """The result of `work`, which is cancelled if the caller is interrupted, as by Ctrl-C."""
        waiting: Future[T] = Future()
        tasks: list[asyncio.Task[None]] = []
        with self._lock:
            loop = self._loop
            if loop is None:
                raise closed()
            # The coroutine is created there: an interrupt here cannot leave one without an awaiter.
            loop.call_soon_threadsafe(
                lambda: tasks.append(asyncio.create_task(_settle(work, waiting)))
            )
        try:
            return waiting.result()
        except BaseException:
            if not waiting.done():
                loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
            raise

    def stop(self, last_call: Callable[[], Awaitable[None]] | None = None) -> None:
        """End the loop and all its tasks, after `last_call`; its thread has ended then."""
        with self._lock:
            loop, self._loop = self._loop, None
            if loop is not None:
                self._last_call = last_call
                loop.call_soon_threadsafe(self._end.set)
        # The garbage collector may call this on the thread itself, which cannot join itself.
        if threading.current_thread() is not self._thread:
            self._thread.join()


async def _settle(work: Work[T], waiting: Future[T]) -> None:
    try:
        result = await work()
    except asyncio.CancelledError:
        waiting.set_exception(closed())
        raise
    except BaseException as error:
        waiting.set_exception(error)
    else:
        waiting.set_result(result)
