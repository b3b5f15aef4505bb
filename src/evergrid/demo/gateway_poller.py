"""Reads the demo's tables in the background and puts what it sees on the board."""

from __future__ import annotations

import threading
from collections.abc import Callable

from evergrid.changelog.feed import Feed
from evergrid.config.settings import Connection
from evergrid.demo.arrivals import Sorter
from evergrid.demo.board import Board, preparing

_READ_SECONDS = 0.2


class Watcher:
    """A thread that follows all tables from their start."""

    def __init__(
        self,
        connection: Connection,
        prefix: str,
        board: Board,
        pipeline_since: Callable[[], float],
    ) -> None:
        self._feed = Feed(connection, prefix)
        self._board = board
        self._pipeline_since = pipeline_since
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._failure: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def look(self) -> None:
        """Raise what ended the thread, if anything did."""
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        sorter = Sorter()
        try:
            while not self._stop.is_set():
                news = self._feed.read(_READ_SECONDS)
                self._board.apply(sorter.sort(news))
                generations = tuple(news.manifest.generations.values())
                self._board.progress(preparing(generations, self._pipeline_since()))
        except Exception as error:
            self._failure = error  # told by the main thread, which can end the demo
        finally:
            self._feed.close()
