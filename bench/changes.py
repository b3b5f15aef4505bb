"""A joined table's changelog written by hand: a past, or a few rows again and again.

Rows of a beat carry the microsecond of their sending, after a mark, where the kind of
account stands: whoever gets a frame finds it there without taking the frame apart.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import msgspec

from bench.joined import KEYS, JoinedRows, row_id, start_for
from bench.load import now_us
from evergrid.config.settings import Connection
from evergrid.kafka.message_sender import Sender

_STAMP = re.compile(rb"@(\d{16})")
_FLUSH_SECONDS = 300.0
_LINGER_MS = 5


class Fill(msgspec.Struct, frozen=True, tag=True):
    """So many rows, as fast as the broker takes them."""

    bootstrap: str
    topic: str
    rows: int


class Beat(msgspec.Struct, frozen=True, tag=True):
    """`rows` rows become the newest of the table, `per_second` times, until `stop` exists."""

    bootstrap: str
    topic: str
    rows: int
    per_second: float
    stop: str


class Written(msgspec.Struct, frozen=True):
    """The stamps of the beats."""

    beats: list[int] = []


def fill(task: Fill) -> Written:
    sender = Sender(_connection(task.bootstrap), **{"linger.ms": 50})
    rows = JoinedRows(KEYS, start_for(task.rows, now_us()))
    for number in range(task.rows):
        sender.send(task.topic, rows.value(number), row_id(number), partition=number % 2)
    sender.flush(_FLUSH_SECONDS)
    return Written()


def beat(task: Beat) -> Written:
    # Just long enough, and to one partition, that the rows of a beat come as one batch.
    sender = Sender(_connection(task.bootstrap), **{"linger.ms": _LINGER_MS})
    rows = JoinedRows(KEYS, now_us())
    stop = Path(task.stop)
    beats: list[int] = []
    due = time.monotonic()
    while not stop.exists():
        stamp = now_us()
        for number in range(0, 2 * task.rows, 2):
            value = rows.value(number, len(beats) + 1, stamp, f"@{stamp}")
            sender.send(task.topic, value, row_id(number), partition=0)
        sender.flush()
        beats.append(stamp)
        due += 1 / task.per_second
        time.sleep(max(0.0, due - time.monotonic()))
    return Written(beats)


def newest_stamp(frame: bytes) -> int:
    """The newest beat that a frame shows; 0 when it shows none."""
    return max(map(int, _STAMP.findall(frame)), default=0)


def _connection(bootstrap: str) -> Connection:
    return Connection(name="bench", bootstrap=bootstrap)
