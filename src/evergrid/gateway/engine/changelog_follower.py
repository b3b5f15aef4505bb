"""Reads the changelogs, parses their records and passes them on; runs in the feed's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec
import pyarrow as pa

from evergrid.changelog.arrow_reader import RowReader
from evergrid.changelog.feed import Arrivals, Feed, FeedUpdate, Key
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.reader import Record
from evergrid.changelog.unreadable_records import SkipReason, unreadable_log_line

_READ_SECONDS = 0.1
_FEW_RECORDS = 500
_COLLECT_SECONDS = 0.01

# Rows to upsert, or ids to delete, in the order of the changelog.
Segment: TypeAlias = pa.RecordBatch | Sequence[str]

NO_UPDATE = FeedUpdate(arrivals=(), followed=(), reached={}, manifest=Manifest(), down="")


class ChangelogFollower:
    """Calls `apply` with each changelog's changes in order and the number of unreadable records,
    `update` when the feed's state changes.

    `update` announces a changelog before its first changes; it gets no arrivals.
    """

    def __init__(
        self,
        feed: Feed,
        apply: Callable[[Key, Sequence[Segment], int], None],
        update: Callable[[FeedUpdate], None],
        log: Callable[[str], None],
    ) -> None:
        self._feed = feed
        self._apply = apply
        self._update = update
        self._log = log
        self._readers: dict[Key, RowReader] = {}
        self._last = NO_UPDATE
        self._logged_down = ""
        self._logged_bad: set[Key] = set()
        self._logged_unreadable: set[tuple[bytes, SkipReason]] = set()  # of the manifest

    def run(self, stopping: threading.Event) -> None:
        try:
            while not stopping.is_set():
                news = self._feed.read(_READ_SECONDS)
                self._take(news)
                if 0 < sum(len(arrivals.records) for arrivals in news.arrivals) < _FEW_RECORDS:
                    # Collect small arrivals for 10 ms: one larger batch costs less than many.
                    stopping.wait(_COLLECT_SECONDS)
        finally:
            self._feed.close()

    def _take(self, news: FeedUpdate) -> None:
        now = msgspec.structs.replace(news, arrivals=())
        if now.followed != self._last.followed:
            self._readers = {
                one.key: self._readers.get(one.key) or RowReader(one.target.table)
                for one in now.followed
            }
            self._logged_bad &= self._readers.keys()
            # Without `reached`: the changes that it counts are passed on below.
            self._update(msgspec.structs.replace(now, reached={}))
        for arrivals in news.arrivals:
            self._pass_on(arrivals)
        if now != self._last:
            self._update(now)
        self._last = now
        if news.down != self._logged_down:
            self._logged_down = news.down
            self._log(f"{news.down} Going on when it is back." if news.down else "Kafka is back.")
        self._log_unreadable(news.manifest)

    def _log_unreadable(self, manifest: Manifest) -> None:
        """Log each record of the manifest that cannot be read; not again what comes after it under
        the same key, until one can be read."""
        found = {(key, record.reason): record for key, record in manifest.unreadable.items()}
        for key, reason in found.keys() - self._logged_unreadable:
            self._log(unreadable_log_line(key, found[key, reason], "gateway"))
        self._logged_unreadable = set(found)

    def _pass_on(self, arrivals: Arrivals) -> None:
        reader = self._readers.get(arrivals.key)
        if reader is None:
            return  # no longer followed
        made, bad = segments(arrivals.records, reader)
        if bad and arrivals.key not in self._logged_bad:
            self._logged_bad.add(arrivals.key)
            record = bad[0]
            self._log(
                f"Bad record in {record.topic}, partition {record.partition}, offset "
                f"{record.offset}: not a row of this table. It is skipped; further ones are "
                "counted, not logged."
            )
        self._apply(arrivals.key, made, len(bad))


def segments(records: Sequence[Record], reader: RowReader) -> tuple[list[Segment], list[Record]]:
    """Segments in the order of the records, and the records that are not rows of this table."""
    made: list[Segment] = []
    bad: list[Record] = []
    for is_delete, group in groupby(records, key=lambda record: record.value is None):
        run = list(group)
        if is_delete:
            made.append(
                [record.key.decode(errors="replace") for record in run if record.key is not None]
            )
            bad += [record for record in run if record.key is None]
            continue
        rows, wrong = reader.read([record.value for record in run if record.value is not None])
        made.append(rows)
        bad += [run[i] for i in wrong]
    return made, bad
