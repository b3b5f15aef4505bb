"""A program with the Python client, and the moment at which each row was in its window."""

from __future__ import annotations

import time
from array import array

import msgspec
import pyarrow as pa

import evergrid
from bench.load import now_us
from bench.watch import Watched, stamp_of
from evergrid.client import col
from evergrid.model.errors import LinkError
from evergrid.protocol.frames import ID_COLUMN

_QUIET_SECONDS = 2.0
_COLUMNS = ("accountType", "name", "_accounts_partition", "_accounts_offset")

_Shown = tuple[str, int]  # a row id and the newest stamp in the row
_Account = tuple[int, int]


class Onlooker(msgspec.Struct, frozen=True, tag=True):
    """Look at the `rows` newest accounts until `accounts` different ones have shown up.

    Only messages sent since `since_us` count.
    """

    address: str
    key: str
    table: str
    rows: int
    accounts: int
    since_us: int
    seconds: float


def run(task: Onlooker) -> Watched:
    """Follow the window until all accounts came, or for as long as the task says."""
    notes = _Notes(task.since_us)
    deadline = time.monotonic() + task.seconds
    # Live messages carry the microsecond of their sending where those of the past have words.
    live = col("accountType").starts_with("1")
    with (
        evergrid.connect(task.address, task.key) as client,
        client.windows(
            task.table, columns=_COLUMNS, where=live, order="-accountType", limit=task.rows
        ) as windows,
    ):
        while time.monotonic() < deadline:
            try:
                window = windows.next(_QUIET_SECONDS)
            except TimeoutError:
                if len(notes.accounts) >= task.accounts:
                    break
                continue
            if window is not None and window.sequence:
                notes.take(window.rows, now_us())
    if not notes.age:
        raise LinkError("not one row came", where=f"table {task.table}")
    return Watched(list(notes.arrived), list(notes.age), len(notes.accounts))


class _Notes:
    """What is in the window and was not in the one before it."""

    def __init__(self, since_us: int) -> None:
        self._since_us = since_us
        self._before: set[_Shown] = set()
        self.arrived = array("q")
        self.age = array("q")
        self.accounts: set[_Account] = set()

    def take(self, rows: pa.Table, arrived: int) -> None:
        ids, *columns = (rows[name].to_pylist() for name in (ID_COLUMN, *_COLUMNS))
        now: set[_Shown] = set()
        for row_id, account, user, partition, offset in zip(ids, *columns, strict=True):
            newer = max(stamp_of(account), stamp_of(user))
            shown = (row_id, newer)
            now.add(shown)
            if shown in self._before or newer < self._since_us:
                continue
            if stamp_of(account) >= self._since_us:
                self.accounts.add((partition, offset))
            self.arrived.append(arrived)
            self.age.append(arrived - newer)
        self._before = now
