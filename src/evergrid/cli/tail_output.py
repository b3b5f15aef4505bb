"""A table's changes as lines: a mark, and columns that line up. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence

import msgspec
import pyarrow as pa
from rich.cells import cell_len

from evergrid.changelog.codec import Row, Value
from evergrid.changelog.text import GAP, cell, fit, is_number, printable, shown
from evergrid.cli.row_diff import Mark, News
from evergrid.gateway.http.formats import cells
from evergrid.model.table import Column, Role
from evergrid.model.types import Kind
from evergrid.protocol.frames import ID_COLUMN

_MARK_WIDTH = 2
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

_COLOURS = {Mark.NEW: "32", Mark.AGAIN: "33", Mark.GONE: "31"}
_ROLES = (Role.TIME, Role.DATA, Role.TRACE)  # from left to right


class Style(msgspec.Struct, frozen=True):
    """How lines are to look."""

    width: int
    colour: bool
    all_columns: bool = False


class TableLines:
    """Lines for one table in one generation; columns grow with what they have to show."""

    def __init__(
        self, table: str, generation: int, columns: Sequence[Column], style: Style
    ) -> None:
        self._name = f"{table} · generation {generation}" if generation else table
        self._style = style
        shown_roles = _ROLES if style.all_columns else _ROLES[:-1]
        self._columns = [c for role in shown_roles for c in columns if c.role is role]
        self._wanted = [max(_AT_FIRST[c.type.kind], cell_len(c.name)) for c in self._columns]
        self._widths: list[int] = []
        self._fit()

    def header(self) -> list[str]:
        """Which table this is, and the names over its columns."""
        left_out = len(self._columns) - len(self._widths)
        more = f" · {left_out} more columns do not fit" if left_out else ""
        return [self._in("1", f"{self._name}{more}"), self._heading()]

    def lines(self, news: News, today: datetime.date) -> list[str]:
        """A line for each change; under the names again when columns had to grow."""
        rows = [row for _, row in _rows(news.rows, _for_people)]
        texts = [
            [shown(row.get(c.name), c.type.kind, today) for c in self._columns] for row in rows
        ]
        grown = [self._grow(line) for line in texts]
        heading = [self._heading()] if any(grown) else []
        gone = [self._line(Mark.GONE, [f"row {printable(i)} deleted"]) for i in news.gone]
        there = [
            self._line(mark, self._cells(row, line))
            for mark, row, line in zip(news.marks, rows, texts, strict=True)
        ]
        return [*heading, *gone, *there]

    def _heading(self) -> str:
        names = [
            cell(column.name, width, right=is_number(column.type.kind))
            for column, width in self._placed()
        ]
        return self._in("2", f"{' ' * _MARK_WIDTH}{(' ' * GAP).join(names)}".rstrip())

    def _line(self, mark: Mark, texts: Sequence[str]) -> str:
        head = self._in(_COLOURS[mark], mark.value)
        return f"{head} {(' ' * GAP).join(texts)}".rstrip()

    def _cells(self, row: Row, texts: Sequence[str]) -> list[str]:
        return [
            self._cell(text, column, width, row.get(column.name) is None)
            for text, (column, width) in zip(texts, self._placed(), strict=False)
        ]

    def _cell(self, text: str, column: Column, width: int, null: bool) -> str:
        padded = cell(text, width, right=is_number(column.type.kind))
        dim = null or column.role is Role.TIME
        return self._in("2", padded) if dim else padded

    def _placed(self) -> list[tuple[Column, int]]:
        return list(zip(self._columns, self._widths, strict=False))

    def _grow(self, texts: Sequence[str]) -> bool:
        """Make room for these; whether any column changed its width."""
        before = list(self._widths)
        for index, text in enumerate(texts):
            length = min(cell_len(text), _WIDEST)
            if length > self._wanted[index]:
                self._wanted[index] = min(_WIDEST, -(-length // _STEP) * _STEP)
        self._fit()
        return self._widths != before

    def _fit(self) -> None:
        room = self._style.width - _MARK_WIDTH
        self._widths = fit(self._wanted, [c.type.kind for c in self._columns], room)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._style.colour else text


def as_json(news: News) -> list[str]:
    """Each change as one JSON object with every column, its values as over HTTP."""
    gone = [_json(row_id, None) for row_id in news.gone]
    return gone + [_json(row_id, row) for row_id, row in _rows(news.rows, cells)]


def _json(row_id: str, row: Row | None) -> str:
    return msgspec.json.encode({"id": row_id, "row": row}).decode()


def _rows(
    rows: pa.Table, values: Callable[[pa.Array], Sequence[Value]]
) -> Iterator[tuple[str, Row]]:
    """Each row with its id, in plain values."""
    for batch in rows.to_batches():
        names = batch.schema.names
        columns = [values(column) for column in batch.columns]
        for cells_of_row in zip(*columns, strict=True):
            row = dict(zip(names, cells_of_row, strict=True))
            yield str(row.pop(ID_COLUMN)), row


def _for_people(column: pa.Array) -> Sequence[Value]:
    """Times as numbers, which are shown in the local zone."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return cells(column)
