"""From a changelog's bytes to rows in a store, the way a gateway does it, without Kafka."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Sequence

import msgspec
import pyarrow as pa

from bench.joined import JoinedRows, joined_table, start_for
from bench.load import now_us
from bench.usage import usage
from evergrid.changelog.arrow_reader import RowReader
from evergrid.store.table_store import TableStore

_BATCH = 10_000  # what the gateway's reader takes at once
_AHEAD = 8  # batches that its parsing may be ahead of its applying
_CHUNK = 500_000  # made up at once; making them is not timed
_WARM = 20_000


class Intake(msgspec.Struct, frozen=True, tag=True):
    """So many rows of people with so many keys."""

    rows: int
    keys: int


class TakenIn(msgspec.Struct, frozen=True):
    """`memory_bytes` is by how much the process grew, `store_bytes` what the store says of it."""

    seconds: float
    parse_cpu: float
    apply_cpu: float
    text_bytes: int
    store_bytes: int
    memory_bytes: int


def run(intake: Intake) -> TakenIn:
    """Take in all rows, in two threads: one parses, the other applies."""
    rows = JoinedRows(intake.keys, start_for(intake.rows, now_us()))
    line = _Line(TableStore(joined_table(_WARM)))
    line.take(rows.values(range(_WARM)))  # what is loaded and compiled once
    before = _memory()
    line = _Line(TableStore(joined_table(intake.rows)))
    text = 0
    for start in range(0, intake.rows, _CHUNK):
        values = rows.values(range(start, min(start + _CHUNK, intake.rows)))
        text += sum(map(len, values))
        line.take(values)
        del values
    if len(line.store) != intake.rows:
        raise AssertionError(f"{len(line.store):,} rows are in the store, not {intake.rows:,}")
    return TakenIn(
        seconds=line.seconds,
        parse_cpu=line.parse_cpu,
        apply_cpu=line.apply_cpu,
        text_bytes=text,
        store_bytes=line.store.nbytes,
        memory_bytes=_memory() - before,
    )


class _Line:
    """One thread parses, the caller's applies; counts the time of both."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        self.seconds = self.parse_cpu = self.apply_cpu = 0.0
        self._tick = 0
        self._reader = RowReader(store.table)
        self._batches: queue.Queue[pa.RecordBatch | None] = queue.Queue(_AHEAD)

    def take(self, values: Sequence[bytes]) -> None:
        began, cpu = time.perf_counter(), time.thread_time()
        parser = threading.Thread(target=self._parse, args=(values,))
        parser.start()
        while (batch := self._batches.get()) is not None:
            self._tick += 1
            self.store.upsert(batch, self._tick)
            self.store.expire(now_us())
        parser.join()
        self.seconds += time.perf_counter() - began
        self.apply_cpu += time.thread_time() - cpu

    def _parse(self, values: Sequence[bytes]) -> None:
        try:
            for start in range(0, len(values), _BATCH):
                rows, bad = self._reader.read(values[start : start + _BATCH])
                assert not bad
                self._batches.put(rows)
        finally:
            self._batches.put(None)
            self.parse_cpu += time.thread_time()


def _memory() -> int:
    """What the process holds, without what only its allocator keeps."""
    pa.default_memory_pool().release_unused()
    return usage(os.getpid()).rss_bytes
