"""Tables as a reader of the changelog ends up with them: the other half of every comparison."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from evergrid.changelog.codec import Row, decode, is_older
from evergrid.changelog.reader import Record, read_to_end
from evergrid.config.settings import Connection
from evergrid.model.generation import TableTopic

_LOOK_SECONDS = 0.3

Value = TypeVar("Value")


def apply_records(rows: dict[str, Row], records: list[Record], target: TableTopic) -> None:
    """Upserts and deletes in order, leaving out what is older than what is there."""
    for record in records:
        change = decode(record.key, record.value)
        if change.row is None:
            rows.pop(change.row_id, None)
            continue
        known = rows.get(change.row_id)
        if known is None or not is_older(change.row, known, target.table):
            rows[change.row_id] = change.row


def read_table(connection: Connection, target: TableTopic) -> dict[str, Row]:
    """All rows of a table by row id, from its changelog as it is now."""
    rows: dict[str, Row] = {}
    for records in read_to_end(connection, target.topic):
        apply_records(rows, records, target)
    return rows


def wait_for(ask: Callable[[], Value], condition: Callable[[Value], bool], seconds: float) -> Value:
    """What `ask` gives as soon as it fulfils `condition`; AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = ask()
        if condition(value):
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not so within {seconds:.0f} seconds: {_brief(value)}")
        time.sleep(_LOOK_SECONDS)


def _brief(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{len(value)} entries"
    return str(value)[:500]
