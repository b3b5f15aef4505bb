"""A table's changes as lines: a mark, the time, and columns that line up. Pure."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Sequence

import msgspec
from rich.cells import cell_len

from evergrid.changelog.follower import Arrival, Followed
from evergrid.changelog.recent import RecentIds
from evergrid.changelog.text import GAP, cell, fit, is_number, moment, printable, shown
from evergrid.model.table import Column, Role
from evergrid.model.types import Kind

_TIME_WIDTH = 12
_STEP = 4  # columns grow by so much, so that they seldom do
_WIDEST = 40  # of one column, so that one long text does not starve the others
_AT_FIRST = {
    Kind.TEXT: 6,
    Kind.INTEGER: 3,
    Kind.FLOAT: 10,
    Kind.DECIMAL: 8,
    Kind.BOOLEAN: 5,
    Kind.TIMESTAMP: 12,
}


class Mark(enum.Enum):
    """What happened to a row, as far as this reader has seen."""

    NEW = "+"
    AGAIN = "~"
    GONE = "-"


_COLOURS = {Mark.NEW: "32", Mark.AGAIN: "33", Mark.GONE: "31"}


class Style(msgspec.Struct, frozen=True):
    """How lines are to look."""

    width: int
    colour: bool
    all_columns: bool = False


class TableLines:
    """Lines for one table in one generation; columns grow with what they have to show."""

    def __init__(self, followed: Followed, style: Style) -> None:
        self._followed = followed
        self._style = style
        table = followed.target.table
        self._columns = [c for c in table.columns if style.all_columns or c.role is Role.DATA]
        self._wanted = [max(_AT_FIRST[c.type.kind], cell_len(c.name)) for c in self._columns]
        self._recent = RecentIds()
        self._widths: list[int] = []
        self._fit()

    def header(self) -> list[str]:
        """Which table this is, and the names over its columns."""
        generation = self._followed.generation
        of = f" · generation {generation.number}" if generation else ""
        left_out = len(self._columns) - len(self._widths)
        more = f" · {left_out} more columns do not fit" if left_out else ""
        title = f"{self._followed.target.table.name}{of}{more}"
        return [self._in("1", title), self._heading()]

    def lines(self, arrivals: Sequence[Arrival], today: datetime.date) -> list[str]:
        """A line for each change; under the names again when columns had to grow."""
        rows = [(arrival, self._texts(arrival, today)) for arrival in arrivals]
        grown = [self._grow(texts) for _, texts in rows]
        heading = [self._heading()] if any(grown) else []
        return heading + [self._line(arrival, texts, today) for arrival, texts in rows]

    def _heading(self) -> str:
        names = [
            cell(column.name, width, right=is_number(column.type.kind))
            for column, width in self._placed()
        ]
        text = f"  {'written':<{_TIME_WIDTH}}  {(' ' * GAP).join(names)}"
        return self._in("2", text.rstrip())

    def _texts(self, arrival: Arrival, today: datetime.date) -> list[str]:
        row = arrival.change.row
        if row is None:
            return []
        return [shown(row.get(c.name), c.type.kind, today) for c in self._columns]

    def _line(self, arrival: Arrival, texts: Sequence[str], today: datetime.date) -> str:
        change = arrival.change
        mark = self._mark(arrival)
        time = moment(arrival.written_ms * 1000, today)[-_TIME_WIDTH:]
        if change.row is None:
            self._recent.forget(change.row_id)
            cells = [f"row {printable(change.row_id)} deleted"]
        else:
            cells = [
                self._cell(text, column, width, change.row.get(column.name) is None)
                for text, (column, width) in zip(texts, self._placed(), strict=False)
            ]
        head = self._in(_COLOURS[mark], mark.value)
        return f"{head} {self._in('2', time)}  {(' ' * GAP).join(cells)}".rstrip()

    def _mark(self, arrival: Arrival) -> Mark:
        if arrival.change.row is None:
            return Mark.GONE
        return Mark.NEW if self._recent.is_new(arrival.change.row_id) else Mark.AGAIN

    def _cell(self, text: str, column: Column, width: int, null: bool) -> str:
        padded = cell(text, width, right=is_number(column.type.kind))
        return self._in("2", padded) if null else padded

    def _placed(self) -> list[tuple[Column, int]]:
        return list(zip(self._columns, self._widths, strict=False))

    def _grow(self, texts: Sequence[str]) -> bool:
        """Make room for these; whether any column changed its width."""
        before = list(self._widths)
        for index, text in enumerate(texts):
            length = min(cell_len(text), _WIDEST)
            if length > self._wanted[index]:
                self._wanted[index] = min(_WIDEST, -(-length // _STEP) * _STEP)
        if texts:
            self._fit()
        return self._widths != before

    def _fit(self) -> None:
        room = self._style.width - _TIME_WIDTH - 2 - GAP
        self._widths = fit(self._wanted, [c.type.kind for c in self._columns], room)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._style.colour else text


def as_json(arrival: Arrival) -> str:
    """One change as one JSON object with every column, for scripts."""
    change = {"id": arrival.change.row_id, "row": arrival.change.row}
    return msgspec.json.encode(change).decode()
