"""What `evergrid tail` prints: changes on standard output, notes on standard error."""

from __future__ import annotations

import datetime
import select
import sys
from collections.abc import Callable, Iterator, Sequence

import msgspec
import pyarrow as pa

from evergrid.changelog.codec import Row, Value
from evergrid.cli.row_diff import RowChange, RowDiff
from evergrid.cli.terminal import cell, value_text, warn
from evergrid.client import LiveWindow
from evergrid.gateway.http.row_formats import cells
from evergrid.model.field_types import ColumnKind
from evergrid.model.printable import printable
from evergrid.model.table import Column, Role
from evergrid.protocol.frames import ID_COLUMN

_GAP = "  "
_MARK_WIDTH = 2
_WIDTHS = {
    ColumnKind.TEXT: 8,  # or wider, as the terminal allows
    ColumnKind.INTEGER: 4,
    ColumnKind.FLOAT: 8,
    ColumnKind.DECIMAL: 8,
    ColumnKind.BOOLEAN: 5,
    ColumnKind.TIMESTAMP: 12,
}
_MAX_TEXT_WIDTH = 24
_NUMBERS = (ColumnKind.INTEGER, ColumnKind.FLOAT, ColumnKind.DECIMAL)
_COLORS = {RowChange.NEW: "32", RowChange.UPDATED: "33", RowChange.DELETED: "31"}
_BOLD, _DIM = "1", "2"
_ROLES = (Role.TIME, Role.DATA, Role.TRACE)  # from left to right


class Style(msgspec.Struct, frozen=True):
    """How lines look."""

    width: int
    color: bool
    all_columns: bool = False


class TableLines:
    """Changes of one table in one generation as lines, with columns of fixed widths."""

    def __init__(
        self, table: str, generation: int, columns: Sequence[Column], style: Style
    ) -> None:
        self._name = f"{table} · generation {generation}" if generation else table
        self._style = style
        roles = _ROLES if style.all_columns else _ROLES[:-1]
        wanted = [column for role in roles for column in columns if column.role is role]
        self._columns = _fitting(wanted, style.width - _MARK_WIDTH)
        self._hidden = len(wanted) - len(self._columns)
        texts = sum(column.type.kind is ColumnKind.TEXT for column in self._columns)
        spare = style.width - _MARK_WIDTH - _total_width(self._columns)
        widest = _WIDTHS[ColumnKind.TEXT] + spare // max(1, texts)
        self._widths = {**_WIDTHS, ColumnKind.TEXT: min(_MAX_TEXT_WIDTH, widest)}

    def header(self) -> list[str]:
        """The table's name, and the names of its columns."""
        more = f" · {self._hidden} more columns do not fit" if self._hidden else ""
        names = _GAP.join(self._padded(c.name, c.type.kind) for c in self._columns)
        return [
            self._styled(_BOLD, f"{self._name}{more}"),
            self._styled(_DIM, f"{' ' * _MARK_WIDTH}{names}".rstrip()),
        ]

    def lines(self, diff: RowDiff, today: datetime.date) -> list[str]:
        """One line per change."""
        deleted = [
            self._line(RowChange.DELETED, f"row {printable(i)} deleted") for i in diff.deleted
        ]
        rows = _rows(diff.rows, _with_numeric_times)
        return deleted + [
            self._line(mark, _GAP.join(self._cell(row, column, today) for column in self._columns))
            for mark, (_, row) in zip(diff.marks, rows, strict=True)
        ]

    def _line(self, mark: RowChange, text: str) -> str:
        return f"{self._styled(_COLORS[mark], mark.value)} {text}".rstrip()

    def _cell(self, row: Row, column: Column, today: datetime.date) -> str:
        value, kind = row.get(column.name), column.type.kind
        text = self._padded(value_text(value, kind, today), kind)
        return self._styled(_DIM, text) if value is None or column.role is Role.TIME else text

    def _padded(self, text: str, kind: ColumnKind) -> str:
        width = self._widths[kind]
        # A number that was cut would be another number.
        is_number = kind in _NUMBERS
        return cell(text, max(width, len(text)) if is_number else width, right=is_number)

    def _styled(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._style.color else text


def _fitting(columns: Sequence[Column], width: int) -> Sequence[Column]:
    """The first columns, as many as fit."""
    while columns and _total_width(columns) > width:
        columns = columns[:-1]
    return columns


def _total_width(columns: Sequence[Column]) -> int:
    return sum(_WIDTHS[column.type.kind] + len(_GAP) for column in columns) - len(_GAP)


def json_lines(diff: RowDiff) -> list[str]:
    """Each change as one JSON object with every column, values as in HTTP answers."""
    deleted = [_json(row_id, None) for row_id in diff.deleted]
    return deleted + [_json(row_id, row) for row_id, row in _rows(diff.rows, cells)]


def _json(row_id: str, row: Row | None) -> str:
    return msgspec.json.encode({"id": row_id, "row": row}).decode()


def _rows(
    rows: pa.Table, values: Callable[[pa.Array], Sequence[Value]]
) -> Iterator[tuple[str, Row]]:
    """Each row with its id, in plain values."""
    for batch in rows.to_batches():
        names = batch.schema.names
        columns = [values(column) for column in batch.columns]
        for row_values in zip(*columns, strict=True):
            row = dict(zip(names, row_values, strict=True))
            yield str(row.pop(ID_COLUMN)), row


def _with_numeric_times(column: pa.Array) -> Sequence[Value]:
    """Values with times in microseconds, which are shown in the local zone."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return cells(column)


class TailOutput:
    """Prints changes; `left` is how many are still to be printed, None for no limit."""

    def __init__(self, style: Style, *, json: bool, count: int | None) -> None:
        self._style = style
        self._json = json
        self.left = count
        self._lines: TableLines | None = None

    @property
    def done(self) -> bool:
        return self.left == 0 or _reader_has_gone()

    def start(self, window: LiveWindow) -> None:
        """Print the header; changes are those of this table and its columns from now on."""
        self._lines = TableLines(window.table, window.generation, window.columns, self._style)
        if not self._json:
            self._write(self._lines.header())

    def write(self, diff: RowDiff) -> None:
        if self.left is not None:
            diff = diff.first(self.left)
            self.left -= len(diff)
        if self._json or self._lines is None:
            self._write(json_lines(diff))
        else:
            self._write(self._lines.lines(diff, datetime.date.today()))

    def note(self, text: str) -> None:
        warn(f"evergrid: {text}")

    def _write(self, lines: Sequence[str]) -> None:
        if lines:
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()


def _reader_has_gone() -> bool:
    """Whether the other end of the output's pipe was closed, as `head` does.

    A write would fail too, but an idle table gives nothing to write.
    """
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError):  # standard output is not a file, as in some test runners
        return False
