"""The demo's screen: a view in, something that rich can draw out. Pure."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from evergrid.changelog.text import GAP, cell, fit, is_number, printable, shown
from evergrid.demo.view import RowView, TableView, View
from evergrid.model.table import Column

ACCENT = "bold bright_green"
NEW = "bright_green"
CHANGED = "bold bright_yellow"
TROUBLE = "bold bright_red"
WAITING = "bright_yellow"

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_WIDEST = 34
_HEADINGS = ("table", "rows", "changes/s", "newest", "delay p50")
_WIDTHS = (20, 11, 11, 12, 11)
_OPTION = re.compile(r" (?=-c |--key-file )")  # where the command to copy may be broken
_GOES_ON = " \\"


def render(view: View, width: int, height: int) -> Text:
    """The whole screen, at most `height` lines of `width` cells."""
    head = [_title(view, width), Text()]
    foot = [Text(), *_footer(view, width)]
    if view.tables and view.generation is not None:
        head += [*_tables(view, width), Text()]
        if not view.live:
            head += [*_waiting(view, width), Text()]
        body = _rows(view, width, height - len(head) - len(foot))
    else:
        body = _starting(view, width, height - len(head) - len(foot))
    filler = [Text()] * max(0, height - len(head) - len(body) - len(foot))
    return Text("\n").join([*head, *body, *filler, *foot][:height])


def _title(view: View, width: int) -> Text:
    parts = [view.broker]
    parts += [f"generation {view.generation}"] if view.generation is not None else []
    parts += [f"{view.join} join"] if view.join else []
    left = Text.assemble((" Evergrid demo ", "reverse " + ACCENT), "  ")
    left.append(" · ".join(part for part in parts if part), "bold")
    state, style = ("● live", ACCENT) if view.live else ("○ not live", WAITING)
    left.truncate(max(0, width - len(state) - 1))
    left.append(" " * max(1, width - left.cell_len - len(state)))
    return left.append(state, style)


def _tables(view: View, width: int) -> list[Text]:
    lines = [_table_line(_HEADINGS, "dim")]
    for table in view.tables:
        lines.append(_table_line(_figures(table), "bold" if table.name == view.focus else ""))
    if view.bad:
        bad = Text.assemble((" last bad message  ", "dim"), (printable(view.bad), WAITING))
        lines.append(bad)
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _table_line(cells: Sequence[str], style: str) -> Text:
    first, *others = zip(cells, _WIDTHS, strict=True)
    text = cell(" " + first[0], first[1])
    return Text(text + "".join(cell(part, size, right=True) for part, size in others), style)


def _figures(table: TableView) -> tuple[str, ...]:
    return (
        table.name,
        f"{table.rows:,}",
        f"{table.per_second:,.1f}",
        "" if table.age_seconds is None else _ago(table.age_seconds),
        "" if table.delay_ms is None else _delay(table.delay_ms),
    )


def _ago(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s ago"
    return f"{seconds / 60:.0f} min ago" if seconds < 5400 else f"{seconds / 3600:.0f} h ago"


def _delay(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:.0f} s"


def _starting(view: View, width: int, room: int) -> list[Text]:
    """Each step on a line of its own, the last one going on."""
    lines = [Text.assemble((" ✓ ", ACCENT), (printable(step), "dim")) for step in view.steps[:-1]]
    lines += _waiting(view, width)
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines[-room:] if room > 0 else []


def _waiting(view: View, width: int) -> list[Text]:
    """What it is waiting for, and why."""
    lines = []
    if view.trouble:
        lines.append(Text.assemble((" ✗ ", TROUBLE), (printable(view.trouble), TROUBLE)))
    if view.steps:
        turn = _SPINNER[int(view.now * 8) % len(_SPINNER)]
        lines.append(Text.assemble((f" {turn} ", WAITING), printable(view.steps[-1])))
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _rows(view: View, width: int, room: int) -> list[Text]:
    """The newest rows under their headings, as many as there is room for."""
    if room < 2 or not view.columns:
        return []
    today = datetime.date.fromtimestamp(view.now)
    rows = view.rows[: room - 1]
    texts = [[shown(row.row.get(c.name), c.type.kind, today) for c in view.columns] for row in rows]
    kinds = [column.type.kind for column in view.columns]
    wanted = [
        min(_WIDEST, max(cell_len(text) for text in (column.name, *(line[i] for line in texts))))
        for i, column in enumerate(view.columns)
    ]
    widths = fit(wanted, kinds, width - 2)
    names = [c.name for c in view.columns]
    lines = [_row(names, view.columns, widths, ["dim"] * len(names))]
    for row, line in zip(rows, texts, strict=True):
        lines.append(_row(line, view.columns, widths, [_style(row, c) for c in view.columns]))
    return lines


def _row(
    texts: Sequence[str], columns: Sequence[Column], widths: Sequence[int], styles: Sequence[str]
) -> Text:
    cells = [
        Text(cell(text, width, right=is_number(column.type.kind)), style)
        for text, column, width, style in zip(texts, columns, widths, styles, strict=False)
    ]
    return Text(" ") + Text(" " * GAP).join(cells)


def _style(row: RowView, column: Column) -> str:
    if column.name in row.changed:
        return CHANGED
    if row.row.get(column.name) is None:
        return "dim"
    return NEW if row.new else ""


def _footer(view: View, width: int) -> list[Text]:
    words = view.words
    address = (view.gateway, "bold underline") if view.gateway else ("not served yet", "dim")
    lines = [
        Text.assemble((" Open ", "dim"), address),
        *_follow(words.tail_command, width),
        Text.assemble(
            (" Ctrl-C", "bold"),
            (f" stops · --fresh starts over · logs in {words.directory}", "dim"),
        ),
    ]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _follow(command: str, width: int) -> list[Text]:
    """How to follow a table; over several lines, as a shell takes them, where one is too short."""
    head = " Follow a table: "
    room = width - len(head) - len(_GOES_ON)
    lines: list[str] = []
    for part in _OPTION.split(command):
        if lines and cell_len(f"{lines[-1]} {part}") <= room:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    if cell_len(command) <= width - len(head):
        lines = [command]
    return [
        Text.assemble(
            (" " * len(head) if number else head, "dim"),
            line + (_GOES_ON if number < len(lines) - 1 else ""),
        )
        for number, line in enumerate(lines)
    ]


def status_line(view: View) -> str:
    """The same in one plain line, for an output that is no terminal."""
    if not view.live:
        waiting = view.trouble or (view.steps[-1] if view.steps else "")
        return f"not live: {printable(waiting)}"
    parts = [_status(table) for table in view.tables]
    bad = f" | last bad message: {printable(view.bad)}" if view.bad else ""
    return f"live, generation {view.generation}, {view.join} | " + " | ".join(parts) + bad


def _status(table: TableView) -> str:
    delay = "" if table.delay_ms is None else f", delay {_delay(table.delay_ms)}"
    return f"{table.name} {table.rows:,} rows, {table.per_second:,.1f}/s{delay}"
