"""Reports of the running joins: their progress, and the messages they left out.

A join runs on several reducers. Each one reports, for every source partition, how many messages
it has joined, the offset of the last one, and how many messages had been sent to each reducer up
to that one. Everything up to a message has been joined when each reducer has joined as many.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import Mapping

import msgspec

from evergrid.changelog.internal_topics import reports_topic
from evergrid.changelog.reader import Record, TopicReader
from evergrid.config.settings import Connection
from evergrid.kafka import clients, topics
from evergrid.model.source import TopicEnd
from evergrid.process.worker_thread import WorkerThread

_READ_SECONDS = 0.1

SidePlace = tuple[int, int]  # 0 for the left source or 1 for the right one, and a partition


class PartitionReport(msgspec.Struct, frozen=True, array_like=True):
    """One source partition as one reducer knows it; `sent` is by reducer."""

    side: int
    partition: int
    joined: int
    offset: int
    sent: tuple[int, ...]


class LeftOut(msgspec.Struct, frozen=True):
    """Messages that a join did not match with everything, since its last report."""

    messages: int
    keys: tuple[str, ...]


class Report(msgspec.Struct, frozen=True):
    query: str
    run: str
    batch: int
    reducer: int
    seen: tuple[PartitionReport, ...]
    gaps: Mapping[str, LeftOut] = {}


class JoinProgress:
    """The reports of one join, combined."""

    def __init__(self) -> None:
        self.batch = ("", -1)  # the run and the batch of the newest reports
        self._over: set[str] = set()
        self._seen: dict[int, dict[SidePlace, PartitionReport]] = {}
        self._at: dict[int, float] = {}

    def add(self, report: Report, at: float) -> None:
        """`at` is its time of arrival, by a monotonic clock."""
        run, batch = self.batch
        if report.run in self._over or (report.run == run and report.batch < batch):
            return  # of an earlier run or batch
        if report.run != run:
            self._over.add(run)
        if (report.run, report.batch) != self.batch:
            self._begin(report.run, report.batch)
        self._seen[report.reducer] = {(one.side, one.partition): one for one in report.seen}
        self._at[report.reducer] = at

    def end_run(self) -> None:
        """The join was stopped or failed; its reports do not hold for its next run."""
        self._over.add(self.batch[0])
        self._begin("", -1)

    def _begin(self, run: str, batch: int) -> None:
        self.batch = (run, batch)
        self._seen.clear()
        self._at.clear()

    def joined(self) -> dict[SidePlace, int]:
        """The offset of each source partition up to which everything was joined, as far as the
        running batch has reported."""
        found = {}
        for place, known in self._by_place().items():
            whole = [one.offset + 1 for one in known if self._is_whole(place, one)]
            if whole:
                found[place] = max(whole)
        return found

    def is_quiet(self, reducers: int, since: float) -> bool:
        """Whether every reducer has reported after `since`, with nothing on the way to it."""
        return (
            len(self._at) == reducers
            and all(at > since for at in self._at.values())
            and all(
                self._is_whole(place, max(known, key=lambda one: one.offset))
                for place, known in self._by_place().items()
            )
        )

    def _by_place(self) -> dict[SidePlace, list[PartitionReport]]:
        found: dict[SidePlace, list[PartitionReport]] = {}
        for seen in self._seen.values():
            for place, one in seen.items():
                found.setdefault(place, []).append(one)
        return found

    def _is_whole(self, place: SidePlace, one: PartitionReport) -> bool:
        """Whether each reducer has joined all that was sent to it up to this report."""
        for reducer, sent in enumerate(one.sent):
            seen = self._seen.get(reducer, {}).get(place)
            if (seen.joined if seen else 0) < sent:
                return False
        return True


class ReportReader(WorkerThread):
    """Reads new reports in a thread of its own."""

    def __init__(self, connection: Connection, prefix: str) -> None:
        super().__init__("reports", self._follow)
        self._connection = connection
        self._topic = reports_topic(prefix)
        self._lock = threading.Lock()
        self._progress: dict[str, JoinProgress] = defaultdict(JoinProgress)
        self._left_out: list[tuple[str, str, LeftOut]] = []
        self.skipped = 0  # records that are not reports

    def batch(self, query: str) -> tuple[str, int]:
        """The run and the batch of a join; `("", -1)` for an unknown join."""
        with self._lock:
            return self._progress[query].batch

    def end_run(self, query: str) -> None:
        """A join starts again from its checkpoint."""
        with self._lock:
            self._progress[query].end_run()

    def joined(self, query: str) -> Mapping[SidePlace, int]:
        """The progress of a join: an offset by side and partition."""
        with self._lock:
            return self._progress[query].joined()

    def is_quiet(self, query: str, reducers: int, since: float) -> bool:
        """Whether nothing was on its way to a join's reducers at `since` (monotonic clock)."""
        with self._lock:
            return self._progress[query].is_quiet(reducers, since)

    def take_left_out(self) -> list[tuple[str, str, LeftOut]]:
        """What joins have left out since the last call: query, reason and messages."""
        with self._lock:
            taken, self._left_out = self._left_out, []
            return taken

    def _follow(self) -> None:
        ends = topics.offsets(self._connection, self._topic, TopicEnd.LATEST)
        reader = TopicReader(self._connection, {self._topic: ends})
        with contextlib.closing(reader):
            while not self.stopped.is_set():
                records = reader.read(_READ_SECONDS)
                if records:
                    self._take(records)

    def _take(self, records: list[Record]) -> None:
        now = time.monotonic()
        with self._lock:
            for record in records:
                try:
                    report = _reports.decode(record.value or b"")
                except (msgspec.DecodeError, RecursionError):
                    self._skip(record)
                    continue
                self._progress[report.query].add(report, now)
                self._left_out += [
                    (report.query, reason, left_out) for reason, left_out in report.gaps.items()
                ]

    def _skip(self, record: Record) -> None:
        """It may be from another version of Evergrid; the first one is logged."""
        if not self.skipped:
            clients.LOG.warning(
                "Bad record in %s, offset %s: not a report of a join. It is skipped; further ones "
                "are counted, not logged.",
                record.topic,
                record.offset,
            )
        self.skipped += 1


_reports = msgspec.json.Decoder(Report)
