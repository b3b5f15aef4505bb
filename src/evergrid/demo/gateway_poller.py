"""Reads the figures of the demo's tables from its gateway, in the background."""

from __future__ import annotations

import contextlib
import threading

from evergrid.client import Client, ClientError, Patience, connect
from evergrid.demo.board import Board

_POLL_SECONDS = 1.0
_PATIENCE = Patience(connect=2.0, answer=5.0)


class GatewayPoller:
    """A thread that asks the gateway for its tables every second and updates the board."""

    def __init__(self, url: str, key: str, board: Board) -> None:
        self._url = url
        self._key = key
        self._board = board
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gateway poller", daemon=True)
        self._failure: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def check(self) -> None:
        """Raise what ended the thread, if anything did."""
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                with (
                    contextlib.suppress(ClientError),
                    connect(self._url, self._key, patience=_PATIENCE) as client,
                ):
                    self._poll(client)
                self._board.gateway_unreachable()
                self._stop.wait(_POLL_SECONDS)
        except Exception as error:
            self._failure = error  # the main thread raises it and ends the demo

    def _poll(self, client: Client) -> None:
        while not self._stop.is_set():
            self._board.gateway_answered(f"{self._url}/#key={self._key}", client.tables())
            self._stop.wait(_POLL_SECONDS)
