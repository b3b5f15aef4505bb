"""The blocking client: the calls of the asynchronous client, on a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar

from evergrid.client.address import Timeouts
from evergrid.client.async_client import AsyncClient, connect_async
from evergrid.client.async_windows import AsyncStream, Item
from evergrid.client.client_errors import closed
from evergrid.client.live_window import Change, LiveWindow
from evergrid.protocol.messages import DEFAULT_LIMIT

P = ParamSpec("P")
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


class Stream(Iterator[Item], Generic[Item]):
    """Iterates over states or changes as they come; may be closed from another thread."""

    def __init__(self, client: Client, stream: AsyncStream[Item]) -> None:
        self._client = client  # a reference, because a client without one is closed
        self._loop = client._loop
        self._stream = stream

    def __next__(self) -> Item:
        item = self.next()
        if item is None:
            raise StopIteration
        return item

    def next(self, timeout: float | None = None) -> Item | None:
        """The next item; None once closed. TimeoutError after `timeout` seconds without one."""

        async def within() -> Item | None:
            # On the loop, where a timeout cannot happen between taking and returning an item.
            async with asyncio.timeout(timeout):
                return await self._stream.next()

        return self._loop.call(within)

    @property
    def newest(self) -> LiveWindow:
        """The newest known state of the window, without waiting."""
        return self._stream.newest

    def move(self, offset: int, limit: int = DEFAULT_LIMIT) -> None:
        """Show another slice of the same view."""
        self._loop.call(lambda: self._stream.move(offset, limit))

    def close(self) -> None:
        if self._loop.running:
            self._loop.call(self._stream.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Windows(Stream[LiveWindow]):
    """The states of one window, each newer than the one before."""


class Changes(Stream[Change]):
    """The changes of one window's rows; the rows of its first state come as added."""


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[object, object, T]],
) -> Callable[Concatenate[Client, P], T]:
    """The method of `Client` that waits for this one, with the same parameters and docstring."""

    @functools.wraps(method)
    def call(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client._loop.call(lambda: method(client._client, *args, **kwargs))

    call.__module__, call.__qualname__ = __name__, f"Client.{method.__name__}"
    return call


def _opening(
    method: Callable[Concatenate[AsyncClient, P], AsyncStream[Item]],
    kind: Callable[[Client, AsyncStream[Item]], T],
) -> Callable[Concatenate[Client, P], T]:
    """The same for a method that opens a stream, which then is of this kind."""

    @functools.wraps(method)
    def call(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async def opened() -> AsyncStream[Item]:
            return method(client._client, *args, **kwargs)

        return kind(client, client._loop.call(opened))

    call.__module__, call.__qualname__ = __name__, f"Client.{method.__name__}"
    signature = inspect.signature(method).replace(return_annotation=kind.__name__)
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


class Client:
    """The tables of a gateway: descriptions, snapshots and live windows.

    Has a thread of its own until `close()` or the end of `with`. Threads may share a client.
    """

    def __init__(self, loop_thread: LoopThread, client: AsyncClient) -> None:
        self._loop = loop_thread
        self._client = client
        self._finalizer = weakref.finalize(self, loop_thread.stop, client.close)

    tables = _blocking(AsyncClient.tables)
    table = _blocking(AsyncClient.table)
    snapshot = _blocking(AsyncClient.snapshot)
    windows = _opening(AsyncClient.windows, Windows)
    changes = _opening(AsyncClient.changes, Changes)
    ask = _blocking(AsyncClient.ask)
    sessions = _blocking(AsyncClient.sessions)
    end_session = _blocking(AsyncClient.end_session)

    def close(self) -> None:
        """End every window, the connection and the thread."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(
    url: str,
    key: str | None = None,
    *,
    ca: str | Path | None = None,
    timeouts: Timeouts = Timeouts(),
    patience: Timeouts | None = None,
) -> Client:
    """A client for the gateway at `url`, with `key` or the one in EVERGRID_KEY.

    The parameters are those of `connect_async`. Requests the list of tables first, so that a wrong
    address or key fails here and not at the first use.
    """
    connecting = connect_async(url, key, ca=ca, timeouts=timeouts, patience=patience)
    loop_thread = LoopThread()
    try:
        client = loop_thread.call(connecting.connect)
    except BaseException:
        loop_thread.stop()
        raise
    return Client(loop_thread, client)
