"""Follows the manifest and the verdicts on control messages in Kafka, without a gateway."""

from __future__ import annotations

import time

import msgspec

from evergrid.changelog.codec import Row, decode
from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.manifest import Manifest, apply
from evergrid.changelog.reader import Record, TopicReader, fold, read_to_end
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.cluster_probe import ClusterProbe, reach
from evergrid.kafka.identity import where
from evergrid.model.errors import BrokenPromise, LinkError
from evergrid.model.source import TopicEnd
from evergrid.model.table import Table

# A pipeline writes a heartbeat every 5 seconds.
_ALIVE_SECONDS = 20.0
_QUIET_SECONDS = 6.0
_ANSWER_SECONDS = 1.0


class ControlMonitor:
    """The manifest, and the verdicts since the start; `update` brings both up to date.

    Verdicts are read from the end that their changelog had at the start: an older row with the
    same id belongs to a control topic that was deleted since.
    """

    def __init__(self, settings: Settings) -> None:
        self._connection = settings.kafka.internal
        self._manifest_topic = manifest_topic(settings.internal_topics.prefix)
        self._table = settings.system_tables.control_raw
        self._probe = ClusterProbe(self._connection)
        self._reader: TopicReader | None = None
        self._next: dict[str, dict[int, int]] = {}
        self._heartbeat_at = self._probed_at = 0.0
        self._failed_probes = 0  # in a row
        self.manifest = Manifest()
        self.verdicts: dict[str, Row] = {}
        self.problem = ""
        reach(self._connection)
        self._open(TopicEnd.LATEST)

    @property
    def alive(self) -> bool:
        """Whether there was a heartbeat of a pipeline lately."""
        quiet_seconds = time.monotonic() - self._heartbeat_at
        return bool(self.manifest.heartbeat) and quiet_seconds < _ALIVE_SECONDS

    def update(self, seconds: float) -> None:
        """Read new records for about `seconds`; without Kafka, `problem` says why."""
        try:
            if self._reader is None:
                time.sleep(seconds)
                self._open(TopicEnd.EARLIEST)
                self.problem = ""
                return
            for record in self._reader.read(seconds):
                self._take(record)
            self._probe_kafka()
            self._follow(TopicEnd.EARLIEST)
        except LinkError as error:
            self.close()
            self.problem = error.sentence()
            time.sleep(seconds)

    def history(self) -> list[Row]:
        """All known control messages with their verdicts, the oldest first."""
        target = self.manifest.system.get(self._table)
        if target is None or target.topic not in topics.describe(self._connection, [target.topic]):
            return []
        rows: dict[str, Row] = {}
        for batch in read_to_end(self._connection, target.topic):
            for record in batch:
                _keep(rows, record, target.table)
        order = target.table.order
        return sorted(rows.values(), key=lambda row: [int(row[name] or 0) for name in order])

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self, edge: TopicEnd) -> None:
        """Start to read, if there is a manifest; unread verdicts from `edge` on."""
        name = self._manifest_topic
        if name not in topics.describe(self._connection, [name]):
            return
        # Before reading, so that what is written meanwhile is applied twice rather than never.
        self._next[name] = topics.offsets(self._connection, name, TopicEnd.LATEST)
        self.manifest = fold(Manifest(), read_to_end(self._connection, name))
        passed = max(0.0, time.time() - self.manifest.heartbeat / 1_000_000)
        self._heartbeat_at = time.monotonic() - passed
        self._follow(edge)
        if self._reader is None:
            self._reader = TopicReader(self._connection, self._next)

    def _follow(self, edge: TopicEnd) -> None:
        """Read the verdicts too, once the manifest names their topic."""
        target = self.manifest.system.get(self._table)
        if target is None or target.topic in self._next:
            return
        if target.topic in topics.describe(self._connection, [target.topic]):
            self._next[target.topic] = topics.offsets(self._connection, target.topic, edge)
            self.close()
            self._reader = TopicReader(self._connection, self._next)

    def _probe_kafka(self) -> None:
        """Without heartbeats, probe Kafka: its consumer does not report a broker that is down."""
        now = time.monotonic()
        if now - max(self._heartbeat_at, self._probed_at) > _QUIET_SECONDS:
            self._probed_at = now
            answers = self._probe.ask(_ANSWER_SECONDS) is not None
            self._failed_probes = 0 if answers else self._failed_probes + 1
            # One answer may be late on a busy machine.
            self.problem = (
                f"{where(self._connection)} does not answer." if self._failed_probes > 1 else ""
            )

    def _take(self, record: Record) -> None:
        self._next[record.topic][record.partition] = record.offset + 1
        if record.topic != self._manifest_topic:
            if target := self.manifest.system.get(self._table):
                _keep(self.verdicts, record, target.table)
        elif record.key is not None:
            before = self.manifest.heartbeat
            self.manifest = apply(self.manifest, record.key, record.value)
            if self.manifest.heartbeat != before:
                self._heartbeat_at = time.monotonic()
                self.problem, self._failed_probes = "", 0


def _keep(rows: dict[str, Row], record: Record, table: Table) -> None:
    """Keep a row; a record that is none is left out, as gateways leave it out."""
    try:
        change = decode(record.key, record.value)
    except (BrokenPromise, msgspec.MsgspecError, UnicodeDecodeError):
        return
    if change.row is None:
        rows.pop(change.row_id, None)
    elif change.row.keys() >= {column.name for column in table.columns} and all(
        isinstance(change.row[name], int) for name in table.order
    ):
        rows[change.row_id] = change.row
