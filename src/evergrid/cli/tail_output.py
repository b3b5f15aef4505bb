"""What `evergrid tail` prints: changes on standard output, notes on standard error."""

from __future__ import annotations

import datetime
import select
import sys
from collections.abc import Sequence

import msgspec

from evergrid.cli.terminal import cell, warn
from evergrid.client import Change, ChangeKind, LiveWindow
from evergrid.model.field_types import ColumnKind
from evergrid.model.printable import printable
from evergrid.model.table import Column, Role

_NULL = "–"
_MAX_CHARACTERS = 400  # of one value; no terminal shows more
_GAP = "  "
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
_MARKS = {
    ChangeKind.ADDED: ("+", "32"),
    ChangeKind.UPDATED: ("~", "33"),
    ChangeKind.REMOVED: ("-", "31"),
}
_MARK_WIDTH = 2
_BOLD, _DIM = "1", "2"


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
        self._color = style.color
        roles = (Role.TIME, Role.DATA, *([Role.TRACE] if style.all_columns else ()))
        wanted = [column for role in roles for column in columns if column.role is role]
        self._columns = list(wanted)
        while (spare := self._spare(style.width)) < 0 and self._columns:
            self._columns.pop()
        self._hidden = len(wanted) - len(self._columns)
        texts = sum(column.type.kind is ColumnKind.TEXT for column in self._columns)
        widest = _WIDTHS[ColumnKind.TEXT] + spare // max(1, texts)
        self._widths = {**_WIDTHS, ColumnKind.TEXT: min(_MAX_TEXT_WIDTH, widest)}

    def _spare(self, width: int) -> int:
        """What the columns leave of the width, at their smallest widths."""
        widths = [_WIDTHS[column.type.kind] + len(_GAP) for column in self._columns]
        return width - _MARK_WIDTH - sum(widths) + len(_GAP)

    def header(self) -> list[str]:
        """The table's name, and the names of its columns."""
        more = f" · {self._hidden} more columns do not fit" if self._hidden else ""
        names = _GAP.join(self._padded(c.name, c.type.kind) for c in self._columns)
        return [
            self._styled(_BOLD, f"{self._name}{more}"),
            self._styled(_DIM, f"{' ' * _MARK_WIDTH}{names}".rstrip()),
        ]

    def line(self, change: Change, today: datetime.date) -> str:
        mark, color = _MARKS[change.kind]
        text = f"row {printable(change.id)} deleted"
        if change.row is not None:
            cells = ((change.row.get(column.name), column) for column in self._columns)
            text = _GAP.join(self._cell(value, column, today) for value, column in cells)
        return f"{self._styled(color, mark)} {text}".rstrip()

    def _cell(self, value: object, column: Column, today: datetime.date) -> str:
        text = self._padded(value_text(value, column.type.kind, today), column.type.kind)
        return self._styled(_DIM, text) if value is None or column.role is Role.TIME else text

    def _padded(self, text: str, kind: ColumnKind) -> str:
        if kind in _NUMBERS:  # a number that was cut would be another number
            return text.rjust(self._widths[kind])
        return cell(text, self._widths[kind])

    def _styled(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._color else text


def value_text(value: object, kind: ColumnKind, today: datetime.date) -> str:
    """A value of an HTTP answer on one line."""
    if value is None:
        return _NULL
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return (
        _short_time(text, today)
        if kind is ColumnKind.TIMESTAMP
        else printable(text[:_MAX_CHARACTERS])
    )


def _short_time(text: str, today: datetime.date) -> str:
    """In the local zone: the time of day for today's times, otherwise the date, as `ls -l` does."""
    try:
        at = datetime.datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):  # a year that Python does not support
        return text
    if at.date() == today:
        return at.time().isoformat("milliseconds")
    return f"{at:%m-%d %H:%M}" if at.year == today.year else f"{at:%F}"


class TailOutput:
    """Prints changes; `left` is how many are still to be printed, None for no limit."""

    def __init__(self, style: Style, *, json: bool, count: int | None) -> None:
        self._style = style
        self._json = json
        self.left = count
        self._table: TableLines

    @property
    def done(self) -> bool:
        return self.left == 0 or _reader_has_gone()

    def start(self, window: LiveWindow) -> None:
        """Print the header; changes are those of this table and its columns from now on."""
        self._table = TableLines(window.table, window.generation, window.columns, self._style)
        if not self._json:
            print(*self._table.header(), sep="\n", flush=True)

    def write(self, changes: Sequence[Change]) -> None:
        if self.left is not None:
            changes = changes[: self.left]
            self.left -= len(changes)
        today = datetime.date.today()
        for each in changes:
            print(json_line(each) if self._json else self._table.line(each, today))
        sys.stdout.flush()

    def note(self, text: str) -> None:
        warn(f"evergrid: {text}")


def json_line(change: Change) -> str:
    """The row with every column, values as in HTTP answers."""
    return msgspec.json.encode({"id": change.id, "row": change.row}).decode()


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
