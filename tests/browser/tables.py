"""The tables of the default configuration with made-up rows, and one of a million rows."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from evergrid.changelog.manifest import Manifest
from evergrid.config import load
from evergrid.model.control_request import Verdict
from evergrid.model.field_types import INTEGER, TEXT, TIMESTAMP, ColumnKind, FieldType
from evergrid.model.generation import Progress, State, Times
from evergrid.model.table import Column, Role, Table
from tests.support.local_engine import Cell
from tests.support.local_gateway import LocalGateway
from tests.support.local_pipeline import LocalPipeline

SETTINGS = load(None, {})
USERS, ACCOUNTS = SETTINGS.raw_tables()
(FINAL,) = SETTINGS.joined_tables()
QUARANTINE = SETTINGS.quarantine()
MILLION = Table(
    name="million",
    columns=(
        Column("number", INTEGER),
        Column("name", TEXT),
        Column("amount", FieldType(ColumnKind.DECIMAL, precision=18, scale=2)),
        Column("ts", TIMESTAMP, Role.TIME),
        Column("_partition", INTEGER, Role.TRACE),
        Column("_offset", INTEGER, Role.TRACE),
    ),
    row_id=("_partition", "_offset"),
    order=("ts", "_partition", "_offset"),
)
ROWS = 1_000_000
START = time.time_ns() // 1000 - 3600 * 1_000_000
SECOND = 1_000_000

Cells = dict[str, Cell]


def user(offset: int, **cells: Cell) -> Cells:
    row: Cells = {
        "userId": f"U{offset}",
        "name": f"Person {offset}",
        "email": f"person{offset}@example.com",
        "age": 18 + offset % 60,
        "ts": START + offset * SECOND,
        "_partition": 0,
        "_offset": offset,
        "_unknown_fields": 0,
    }
    return row | cells


def account(offset: int, **cells: Cell) -> Cells:
    row: Cells = {
        "userId": f"U{offset}",
        "accountType": "savings" if offset % 2 else "current",
        "balance": f"{offset * 10}.50",
        "ts": START + offset * SECOND + 1,
        "_partition": 0,
        "_offset": offset,
        "_unknown_fields": 0,
    }
    return row | cells


def final(offset: int, **cells: Cell) -> Cells:
    """A user with the account of the same number; its id is 0:<offset>."""
    left, right = user(offset), account(offset)
    row: Cells = {name: left[name] for name in ("userId", "name", "email", "age", "ts")}
    row |= {
        "accounts_userId": right["userId"],
        "accountType": right["accountType"],
        "balance": right["balance"],
    }
    for source, side in (("users", left), ("accounts", right)):
        row |= {
            f"_{source}_topic": source,
            f"_{source}_partition": 0,
            f"_{source}_offset": offset,
            f"_{source}_ts": side["ts"],
        }
    return row | cells


def bad_message(offset: int, **cells: Cell) -> Cells:
    row: Cells = {
        "topic": "users",
        "reason": "age is not an integer",
        "text": f'{{"userId": "U{offset}", "age": "old"}}',
        "ts": START + offset * SECOND,
        "_partition": 0,
        "_offset": 1000 + offset,
    }
    return row | cells


def place_all(gateway: LocalGateway, rows: int = 50) -> LocalPipeline:
    """Users, accounts, their join and some bad messages, of generation 1 of a live pipeline."""
    gateway.place(USERS, [user(offset) for offset in range(rows)])
    gateway.place(ACCOUNTS, [account(offset) for offset in range(rows)])
    gateway.place(FINAL, [final(offset) for offset in range(rows)])
    gateway.place(QUARANTINE, [bad_message(offset) for offset in range(5)], generation=0)
    gateway.engine.manifest = Manifest(heartbeat=time.time_ns() // 1000)
    pipeline = LocalPipeline(gateway, SETTINGS)
    pipeline.put(1, State.READY, times=Times(created=START, ready=START + SECOND), rows=rows)
    pipeline.switch(1)
    return pipeline


def place_story(pipeline: LocalPipeline) -> None:
    """Messages of every verdict, and generations in every state."""
    asked = {"usersTopic": "users_v2", "joinType": "asof"}
    for offset, verdict in enumerate(Verdict):
        at = START + offset * SECOND
        reason = f"A reason why it is {verdict.value}."
        # In another partition than the messages that a test sends.
        pipeline.judge(
            offset, asked, verdict, reason=reason, generation=2, partition=1, asked_at=at
        )
    raw = "no JSON at all: " + "x" * 300
    pipeline.judge(99, raw, Verdict.INVALID, reason="It is no JSON.", partition=1)
    error = "topic users_v2 does not exist. Create it, or ask for another."
    for number, state in enumerate(State, 2):
        if state is State.CURRENT:
            continue
        pipeline.put(
            number,
            state,
            asked,
            progress=Progress("writing the past of final_ui", 42_000, 100_000),
            error=error if state is State.FAILED else "",
            rows=1_234_567,
            times=Times(created=START, ready=START, current=START, ended=START),
        )


def million() -> pa.RecordBatch:
    """Row n has number n and is the n-th, so that every position can be checked."""
    numbers = np.arange(ROWS, dtype=np.int64)
    amounts = pa.array(numbers * 7 % 100_000).cast(pa.decimal128(21, 2)).cast(pa.decimal128(18, 2))
    columns = {
        "number": pa.array(numbers),
        "name": pa.array([f"Row {number}" for number in range(ROWS)]),
        "amount": amounts,
        "ts": pa.array(START + numbers),
        "_partition": pa.array(np.zeros(ROWS, np.int64)),
        "_offset": pa.array(numbers),
    }
    return pa.RecordBatch.from_pydict(columns)
