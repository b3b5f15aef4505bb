"""The blocking client: the calls of the asynchronous client, for programs without a loop."""

from __future__ import annotations

import asyncio
import functools
import inspect
import weakref
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar

from evergrid.client.address import Patience
from evergrid.client.async_client import AsyncClient, connect_async
from evergrid.client.async_windows import AsyncStream, Item
from evergrid.client.live_window import LiveWindow
from evergrid.client.loop_thread import LoopThread
from evergrid.client.window_changes import Change
from evergrid.protocol.messages import DEFAULT_LIMIT

P = ParamSpec("P")
T = TypeVar("T")


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
    patience: Patience = Patience(),
) -> Client:
    """A client for the gateway at `url`, with `key` or the one in EVERGRID_KEY.

    `ca` is a PEM file with the authority that signed the gateway's certificate, if the system
    does not trust it. Requests the list of tables first, so that a wrong address or key fails
    here and not at the first use.
    """
    connecting = connect_async(url, key, ca=ca, patience=patience)
    loop_thread = LoopThread()
    try:
        client = loop_thread.call(connecting.connect)
    except BaseException:
        loop_thread.stop()
        raise
    return Client(loop_thread, client)
