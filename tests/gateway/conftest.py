"""A gateway with a table of every type, and clients that say exactly what a test wants said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evergrid.model.field_types import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    TEXT,
    TIMESTAMP,
    ColumnKind,
    FieldType,
)
from evergrid.model.table import Column, Role, Table
from tests.support.local_engine import Cell
from tests.support.local_gateway import LocalGateway

PEOPLE = Table(
    name="people",
    columns=(
        Column("name", TEXT),
        Column("age", INTEGER),
        Column("height", FLOAT),
        Column("balance", FieldType(ColumnKind.DECIMAL, precision=38, scale=10)),
        Column("member", BOOLEAN),
        Column("seen", TIMESTAMP),
        Column("ts", TIMESTAMP, Role.TIME),
        Column("_partition", INTEGER, Role.TRACE),
        Column("_offset", INTEGER, Role.TRACE),
    ),
    row_id=("_partition", "_offset"),
    order=("ts", "_partition", "_offset"),
)

TIME = 1_767_225_600_123_456


def person(offset: int, **cells: Cell) -> dict[str, Cell]:
    """A row whose id is 0:<offset>."""
    row: dict[str, Cell] = {
        "name": f"P{offset}",
        "age": offset,
        "height": 1.5,
        "balance": "12.5000000000",
        "member": True,
        "seen": TIME,
        "ts": TIME + offset,
        "_partition": 0,
        "_offset": offset,
    }
    return row | cells


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    with LocalGateway(tmp_path) as running:
        running.place(PEOPLE, [person(offset) for offset in range(10)])
        yield running
