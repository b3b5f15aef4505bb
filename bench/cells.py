"""A gateway with a table in memory, some of whose cells change ten times a second."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import msgspec
from tests.support.local_engine import Cell
from tests.support.local_gateway import LocalGateway

from bench.joined import JoinedRows, joined_table, start_for
from bench.load import now_us

ROWS = 300
CELLS = 100
EVERY_SECONDS = 0.1
_LOOK_SECONDS = 0.02
# All that are shown but the time, by which rows are ordered: none of them moves.
COLUMNS = ("userId", "name", "email", "age", "accounts_userId", "accountType", "balance")

Row = dict[str, Cell]


class Serving(msgspec.Struct, frozen=True, tag=True):
    """Serve the table, whose address comes into the file `place`.

    Cells change while the file `go` exists; all ends when `stop` does.
    """

    place: str
    go: str
    stop: str


class Place(msgspec.Struct, frozen=True):
    """Where a page finds the table."""

    address: str
    key: str
    table: str


class Ticks(msgspec.Struct, frozen=True):
    """How often cells changed."""

    count: int


def run(task: Serving) -> Ticks:
    place, go, stop = Path(task.place), Path(task.go), Path(task.stop)
    table, board = joined_table(ROWS), Board()
    ticks = 0
    with LocalGateway(place.parent) as gateway:
        gateway.place(table, board.rows)
        _put(place, Place(gateway.address, gateway.secret, table.name))
        due = time.monotonic()
        while not stop.exists():
            if not go.exists():
                time.sleep(_LOOK_SECONDS)
                due = time.monotonic()
                continue
            gateway.upsert(table.name, board.change())
            ticks += 1
            due += EVERY_SECONDS
            time.sleep(max(0.0, due - time.monotonic()))
    return Ticks(ticks)


class Board:
    """Rows of the default join, and changes of single cells of them."""

    def __init__(self) -> None:
        made = JoinedRows(ROWS, start_for(ROWS, now_us()))
        self.rows: list[Row] = [json.loads(made.value(number)) for number in range(ROWS)]
        self._others = {name: sorted({row[name] for row in self.rows}, key=str) for name in COLUMNS}
        self._rng = random.Random(1)

    def change(self) -> list[Row]:
        """Give as many cells as CELLS says another value; the rows they are in."""
        touched: dict[int, Row] = {}
        for cell in self._rng.sample(range(ROWS * len(COLUMNS)), CELLS):
            number, column = divmod(cell, len(COLUMNS))
            name, row = COLUMNS[column], self.rows[number]
            row[name] = self._rng.choice([v for v in self._others[name] if v != row[name]])
            touched[number] = row
        return list(touched.values())


def _put(path: Path, place: Place) -> None:
    """All at once: nobody reads half of it."""
    draft = path.with_suffix(".draft")
    draft.write_bytes(msgspec.json.encode(place))
    draft.replace(path)
