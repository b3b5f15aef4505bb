"""What the demo shows about itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from evergrid.client import Live, TableDescription


class Board:
    """Shows `names` of the tables, of which `quarantine` is one; each new line goes to `report`.

    `address` has the key in it; it is empty while the gateway does not answer.
    """

    def __init__(
        self, names: Sequence[str], quarantine: str, report: Callable[[str], None]
    ) -> None:
        self._names = names
        self._quarantine = quarantine
        self._step = ""
        self._pipeline_problem = ""
        self._pipeline_since = float("inf")
        self.report = report
        self.address = ""
        self.broker = ""
        self.tables: Sequence[TableDescription] = ()
        self.generation = 0
        self.live = False
        self.live_since: float | None = None

    def step(self, text: str) -> None:
        """What the demo does now; the same text twice in a row counts once."""
        if text and text != self._step:
            self._step = text
            self.report(text)

    def pipeline_started(self) -> None:
        """Rows count as live if their messages were sent after this."""
        self._pipeline_since, self._pipeline_problem, self.live = time.time(), "", False
        self.step("Starting the pipeline.")

    def pipeline_ended(self, problem: str) -> None:
        self._pipeline_problem, self.live = problem, False
        self.step(problem)

    def gateway_lost(self, problem: str = "") -> None:
        self.address, self.live = "", False
        self.step(problem)

    def gateway_answered(self, address: str, tables: Sequence[TableDescription]) -> None:
        """The gateway serves at `address`, and these are its tables now."""
        if not self.address:
            self.report(f"The tables are served at {address}")
        self.address = address
        by_name = {table.name: table for table in tables}
        self.tables = [by_name[name] for name in self._names if name in by_name]
        data = [table for table in self.tables if table.name != self._quarantine]
        self.generation = max((table.generation for table in data), default=0)
        # Whether the pipeline that runs now keeps all tables up to date.
        self.live = (
            not self._pipeline_problem
            and all(table.state is Live.LIVE for table in data)
            and any(table.newest >= self._pipeline_since * 1_000_000 for table in data)
        )
        if self.live and not self.live_since:
            self.live_since = time.time()

    @property
    def status(self) -> str:
        """Why it is not live, or what it waits for."""
        behind = [t.message for t in self.tables if t.state is not Live.LIVE and t.message]
        return self._pipeline_problem or (behind[0] if self.address and behind else self._step)
