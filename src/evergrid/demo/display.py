"""Puts the board where people look: on a terminal in place, or line by line elsewhere."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from evergrid.changelog.text import printable
from evergrid.demo.board import Board
from evergrid.demo.screen import render, status_line

_PER_SECOND = 4
_STATUS_SECONDS = 2.0
_LOOK_SECONDS = 0.2


@contextlib.contextmanager
def on_terminal(board: Board, console: Console) -> Iterator[None]:
    """The screen, drawn anew four times a second while the block runs."""

    def draw() -> Text:
        return render(board.view(), console.width, console.height)

    with Live(
        get_renderable=draw,
        console=console,
        screen=True,
        refresh_per_second=_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield


@contextlib.contextmanager
def in_lines(board: Board, output: TextIO) -> Iterator[None]:
    """Steps and troubles as they come, and once it was live the status every two seconds."""
    teller = _Teller(board, output)
    teller.start()
    try:
        yield
    finally:
        teller.stop()


class _Teller:
    def __init__(self, board: Board, output: TextIO) -> None:
        self._board = board
        self._output = output
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="teller", daemon=True)
        self._told = ""
        self._due = 0.0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # whoever read our lines has gone
            while not self._stop.wait(_LOOK_SECONDS) and not self._board.is_stopping:
                self._look()

    def _look(self) -> None:
        view = self._board.view()
        for step in self._board.new_steps():
            self._say(printable(step))
        if view.trouble and view.trouble != self._told:
            self._say(printable(view.trouble))  # at once: it may be over by the next status
        self._told = view.trouble
        if time.monotonic() >= self._due and self._board.live_since is not None:
            self._due = time.monotonic() + _STATUS_SECONDS
            self._say(status_line(view))

    def _say(self, text: str) -> None:
        self._output.write(f"{time.strftime('%H:%M:%S')} {text}\n")
        self._output.flush()
