"""Where the demo's threads put what they know, and the screen takes it from."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from evergrid.changelog.codec import Row
from evergrid.demo.arrivals import Arrival, Batch, Moved
from evergrid.demo.meter import Meter
from evergrid.demo.newest import NewestRows
from evergrid.demo.view import View, Words
from evergrid.model.generation import Generation, State
from evergrid.model.join import Join
from evergrid.model.table import Column, Role, Table
from evergrid.orchestrator.registry import progress_text

_STALE_SECONDS = 4.0
_MOST_STEPS = 40


class Board:
    """Safe to use from any thread. `focus` is the one of `tables` whose rows are shown."""

    def __init__(self, words: Words, tables: Sequence[str], focus: str, quarantine: str) -> None:
        self._lock = threading.Lock()
        self._words = words
        self._tables = tables
        self._focus = focus
        self._quarantine = quarantine
        self._meters: dict[str, Meter] = {}
        self._newest: NewestRows | None = None
        self._columns: Sequence[Column] = ()
        self._steps: list[str] = []
        self._broker = ""
        self._gateway = ""
        self._generation: Generation | None = None
        self._bad = ""
        self._trouble = ""
        self._note = ""
        self._pipeline_since = float("inf")
        self._last_live = 0.0
        self._untold = 0
        self.live_since: float | None = None
        self.is_stopping = False

    def step(self, text: str) -> None:
        """The next thing that is being done; a repetition is no news."""
        with self._lock:
            if text and (not self._steps or self._steps[-1] != text):
                self._add(text)

    def progress(self, generation: Generation | None) -> None:
        """How far the preparation of a new generation is, in the place of the last step."""
        if generation is None or generation.progress is None:
            return
        text = f"Generation {generation.number}: {progress_text(generation.progress)}"
        with self._lock:
            last = self._steps[-1] if self._steps else ""
            if last != text:
                if last.split(":")[:2] == text.split(":")[:2]:
                    self._steps.pop()
                self._add(text)

    def new_steps(self) -> list[str]:
        """Steps that were not asked for yet."""
        with self._lock:
            new = self._steps[-self._untold :] if self._untold else []
            self._untold = 0
            return new

    def stopping(self) -> None:
        with self._lock:
            self.is_stopping = True
            self._pipeline_since = float("inf")
            self._trouble = self._note = ""
            self._add("Stopping.")

    def broker(self, address: str) -> None:
        with self._lock:
            self._broker = address

    def gateway(self, address: str) -> None:
        """Where to open the tables; empty while nobody serves them."""
        with self._lock:
            if address and address != self._gateway:
                self._add(f"The tables are served at {address}")
            self._gateway = address

    def pipeline_started(self) -> None:
        """From now on a change is a sign of life; those before were another process's."""
        with self._lock:
            self._pipeline_since = time.time()
            self._trouble = ""

    def pipeline_ended(self, trouble: str) -> None:
        with self._lock:
            self._pipeline_since = float("inf")
            self._trouble = trouble

    def apply(self, batch: Batch) -> None:
        """Take in what a feed of all the demo's tables has read."""
        now = time.time()
        with self._lock:
            self._note = batch.trouble
            for moved in batch.moved:
                self._move(moved)
            for arrival in batch.arrivals:
                meter = self._meters.get(arrival.table)
                if meter is None:
                    continue
                meter.count(arrival, now)
                if self._is_sign_of_life(arrival):
                    self._last_live = now
                    self.live_since = self.live_since or now
                if arrival.table == self._focus and self._newest:
                    self._newest.apply(arrival.change, now)
                if arrival.table == self._quarantine and arrival.change.row:
                    self._bad = _bad(arrival.change.row)

    def view(self) -> View:
        now = time.time()
        with self._lock:
            generation = self._generation
            return View(
                now=now,
                words=self._words,
                live=self._is_live(now),
                broker=self._broker,
                gateway=self._gateway,
                generation=generation.number if generation else None,
                join=_join_type(generation, self._focus),
                steps=tuple(self._steps),
                trouble=self._trouble or self._note,
                tables=tuple(
                    self._meters[name].view(now) for name in self._tables if name in self._meters
                ),
                bad=self._bad,
                focus=self._focus,
                columns=self._columns,
                rows=self._newest.view(now) if self._newest else (),
            )

    def _add(self, step: str) -> None:
        self._steps = [*self._steps, step][-_MOST_STEPS:]
        self._untold = min(self._untold + 1, len(self._steps))

    def _is_sign_of_life(self, arrival: Arrival) -> bool:
        """Bad messages are shown before a generation is ready, so they are none."""
        ours = arrival.written_ms / 1000 >= self._pipeline_since
        return arrival.live and ours and arrival.table != self._quarantine

    def _is_live(self, now: float) -> bool:
        fresh = self._last_live >= self._pipeline_since
        # A pause between two batches, or a slow generator, is no standstill.
        patience = max(_STALE_SECONDS, 10 / self._words.rate)
        return fresh and not self._trouble and now - self._last_live < patience

    def _move(self, moved: Moved) -> None:
        """A table begins anew, as that of another generation."""
        table = moved.table
        if table.name not in self._tables:
            return  # what the pipeline writes about itself is on the page
        self._meters[table.name] = Meter(table)
        if moved.generation is not None:
            self._generation = moved.generation
        if table.name == self._focus:
            self._newest = NewestRows(table)
            self._columns = shown_columns(table, moved.generation)


def preparing(generations: Sequence[Generation], since: float) -> Generation | None:
    """The generation that is being prepared by a pipeline started at `since`, if any."""
    found = [
        generation
        for generation in generations
        if generation.state is State.PREPARING and generation.times.created >= since * 1_000_000
    ]
    return found[-1] if found else None


def _bad(row: Row) -> str:
    return f"{row.get('topic')}: {row.get('reason')}"


def _join_of(generation: Generation | None, table: str) -> Join | None:
    joins = generation.joins.values() if generation else ()
    return next((join for join in joins if join.table == table), None)


def _join_type(generation: Generation | None, table: str) -> str:
    join = _join_of(generation, table)
    return str(join.type.value) if join else ""


def shown_columns(table: Table, generation: Generation | None) -> tuple[Column, ...]:
    """The time and the data; not the other side's key, which repeats the driving side's."""
    join = _join_of(generation, table.name)
    other = join.driving.other if join else None
    repeated = {
        column.name
        for column in (join.columns if join else ())
        if join and column.side is other and column.field == join.key_of(column.side)
    }
    times = [column for column in table.columns if column.role is Role.TIME]
    data = [column for column in table.columns if column.role is Role.DATA]
    return (*times, *(column for column in data if column.name not in repeated))
