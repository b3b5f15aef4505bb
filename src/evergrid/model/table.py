"""A table: a named set of rows with one schema, for the changelog and the screens.

The schema also names the columns of the row id, of the default order, and of the version, which
tells a newer state of a row from an older one. A reader of the changelog needs no knowledge of
joins.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping

import msgspec

from evergrid.model.field_types import INTEGER, TEXT, TIMESTAMP, FieldType
from evergrid.model.join import Join, JoinType
from evergrid.model.source import Source

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

ID_SEPARATOR = ":"  # cannot occur in a topic's name, so parts never run together


class Role(enum.Enum):
    """The role of a column: the user's data, the row's time, or its origin in Kafka."""

    DATA = "data"
    TIME = "time"
    TRACE = "trace"


class Column(msgspec.Struct, frozen=True):
    name: str
    type: FieldType
    role: Role = Role.DATA


class Retention(msgspec.Struct, frozen=True):
    """How much of a table is kept: the newest rows, and none older than `age_seconds`."""

    rows: int | None = None
    age_seconds: int | None = None


class Table(msgspec.Struct, frozen=True):
    """The schema and retention of a table.

    row_id    columns whose values, joined by ``:``, are the row id
    order     columns of the default order
    version   columns that only grow for one row id; a change that is lower (null is
              lowest) than what a reader has is older and must be ignored
    """

    name: str
    columns: tuple[Column, ...]
    row_id: tuple[str, ...]
    order: tuple[str, ...]
    version: tuple[str, ...] = ()
    retention: Retention = Retention()

    @property
    def times(self) -> tuple[str, ...]:
        """Columns with the times of the messages that a row was made from."""
        traces = (column for column in self.columns if column.role is Role.TRACE)
        return (self.order[0], *(one.name for one in traces if one.type == TIMESTAMP))


TIME_COLUMN = Column("ts", TIMESTAMP, Role.TIME)
# What tells a topic's messages apart, and what a row shows of the message that it was made from.
_MESSAGE = ("_partition", "_offset")
_KAFKA_COLUMNS = (TIME_COLUMN, *(Column(name, INTEGER, Role.TRACE) for name in _MESSAGE))


def _trace_columns(source: str) -> tuple[Column, ...]:
    """The columns by which a joined row names its message of `source`."""
    types = {"topic": TEXT, "partition": INTEGER, "offset": INTEGER, "ts": TIMESTAMP}
    return tuple(Column(f"_{source}_{name}", kind, Role.TRACE) for name, kind in types.items())


def raw_table(source: Source, retention: Retention) -> Table:
    """The table that shows a source's messages, one row each."""
    data = tuple(Column(field.name, field.type) for field in source.fields)
    return Table(
        name=source.table,
        columns=(*data, *_KAFKA_COLUMNS, Column("_unknown_fields", INTEGER, Role.TRACE)),
        row_id=_MESSAGE,
        order=(TIME_COLUMN.name, *_MESSAGE),
        retention=retention,
    )


def joined_table(join: Join, sources: Mapping[str, Source], retention: Retention) -> Table:
    """The table that shows a join's result."""
    data = tuple(
        Column(column.name, sources[join.source_of(column.side)].field(column.field).type)
        for column in join.columns
    )
    driving, other = join.source_of(join.driving), join.source_of(join.driving.other)
    other_message = (f"_{other}_partition", f"_{other}_offset")
    row_id: tuple[str, ...] = (f"_{driving}_partition", f"_{driving}_offset")
    version: tuple[str, ...] = (f"_{other}_ts", *other_message)
    if join.type is JoinType.INNER:
        row_id, version = (*row_id, *other_message), ()
    return Table(
        name=join.table,
        columns=(*data, TIME_COLUMN, *_trace_columns(join.left), *_trace_columns(join.right)),
        row_id=row_id,
        order=(TIME_COLUMN.name, *row_id),
        version=version,
        retention=retention,
    )


def control_table(name: str, retention: Retention) -> Table:
    """The control topic's messages, each with its verdict; it belongs to no generation."""
    return Table(
        name=name,
        columns=(
            Column("message", TEXT),
            Column("verdict", TEXT),
            Column("reason", TEXT),
            Column("generation", INTEGER),
            Column("by", TEXT),
            Column("decided", TIMESTAMP),
            *_KAFKA_COLUMNS,
        ),
        row_id=_MESSAGE,
        order=(TIME_COLUMN.name, *_MESSAGE),
        retention=retention,
    )


def status_table(name: str, chosen: Iterable[str], retention: Retention) -> Table:
    """One row for each generation; `chosen` are the columns that say what it is made of."""
    return Table(
        name=name,
        columns=(
            Column("generation", INTEGER),
            Column("state", TEXT),
            *(Column(column, TEXT) for column in chosen),
            Column("rows", INTEGER),
            Column("progress", TEXT),
            Column("lastApplied", TIMESTAMP),
            Column("lastError", TEXT),
            Column("changed", TIMESTAMP),
            TIME_COLUMN,
        ),
        row_id=("generation",),
        order=(TIME_COLUMN.name, "generation"),
        retention=retention,
    )


def quarantine_table(name: str, retention: Retention) -> Table:
    """The table of messages that could not become rows; it belongs to no generation."""
    return Table(
        name=name,
        columns=(
            Column("topic", TEXT),
            Column("reason", TEXT),
            Column("text", TEXT),
            *_KAFKA_COLUMNS,
        ),
        row_id=("topic", *_MESSAGE),
        order=(TIME_COLUMN.name, "topic", *_MESSAGE),
        retention=retention,
    )
