"""The state of the demo, which its threads write and the display reads."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import msgspec

from evergrid.client import Live, TableDescription


class BoardView(msgspec.Struct, frozen=True):
    """The demo at one moment.

    `status` says why it is not live, or what it waits for. `address` has the key in it; it is
    empty while the gateway does not answer.
    """

    live: bool = False
    status: str = ""
    address: str = ""
    broker: str = ""
    generation: int = 0
    tables: Sequence[TableDescription] = ()


class Board:
    """Safe to use from any thread; shows `tables`, of which `quarantine` is one, in this order."""

    def __init__(self, tables: Sequence[str], quarantine: str) -> None:
        self._lock = threading.Lock()
        self._names = tables
        self._quarantine = quarantine
        self._new_lines: list[str] = []
        self._step = ""
        self._pipeline_problem = ""
        self._pipeline_since = float("inf")
        self._view = BoardView()
        self.live_since: float | None = None
        self.is_stopping = False

    def step(self, text: str) -> None:
        """What the demo does now; the same text twice in a row counts once."""
        with self._lock:
            self._add(text)

    def note(self, text: str) -> None:
        """A line for people that is not about what the demo does now."""
        with self._lock:
            self._new_lines.append(text)

    def take_lines(self) -> list[str]:
        """Steps and notes that were not taken yet."""
        with self._lock:
            lines, self._new_lines = self._new_lines, []
            return lines

    def stopping(self) -> None:
        with self._lock:
            self.is_stopping = True
            self._pipeline_since = float("inf")
            self._pipeline_problem = ""
            self._add("Stopping.")
            self._change(live=False)

    def broker(self, address: str) -> None:
        with self._lock:
            self._change(broker=address)

    def pipeline_started(self) -> None:
        """Rows count as live if their messages were sent after this."""
        with self._lock:
            self._pipeline_since = time.time()
            self._pipeline_problem = ""
            self._add("Starting the pipeline.")
            self._change(live=False)

    def pipeline_ended(self, problem: str) -> None:
        with self._lock:
            self._pipeline_since = float("inf")
            self._pipeline_problem = problem
            self._add(problem)
            self._change(live=False)

    def gateway_ended(self, problem: str) -> None:
        with self._lock:
            self._add(problem)
            self._change(live=False, address="")

    def gateway_unreachable(self) -> None:
        with self._lock:
            self._change(live=False, address="")

    def gateway_answered(self, address: str, tables: Sequence[TableDescription]) -> None:
        """The gateway serves at `address`, and these are its tables now."""
        by_name = {table.name: table for table in tables}
        shown = [by_name[name] for name in self._names if name in by_name]
        data = [table for table in shown if table.name != self._quarantine]
        with self._lock:
            if not self._view.address:
                self._new_lines.append(f"The tables are served at {address}")
            live = self._are_live(data)
            if live and not self.live_since:
                self.live_since = time.time()
            generation = max((table.generation for table in data), default=0)
            self._change(live=live, address=address, generation=generation, tables=tuple(shown))

    def view(self) -> BoardView:
        with self._lock:
            return self._view

    def _are_live(self, data: Sequence[TableDescription]) -> bool:
        """Whether the pipeline that runs now keeps all tables up to date."""
        if self._pipeline_problem or not all(table.state is Live.LIVE for table in data):
            return False
        since = self._pipeline_since * 1_000_000
        return any(table.newest >= since for table in data)

    def _change(self, **fields: object) -> None:
        view = msgspec.structs.replace(self._view, **fields)
        behind = [t.message for t in view.tables if t.state is not Live.LIVE and t.message]
        status = self._pipeline_problem or (behind[0] if view.address and behind else self._step)
        self._view = msgspec.structs.replace(view, status="" if view.live else status)

    def _add(self, step: str) -> None:
        if step and step != self._step:
            self._step = step
            self._new_lines.append(step)
            self._change()
