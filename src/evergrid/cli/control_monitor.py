"""Follows the manifest and the verdicts on control messages in Kafka, without a gateway."""

from __future__ import annotations

import time

import msgspec

from evergrid.changelog.codec import Row, decode
from evergrid.changelog.feed import Feed
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.reader import Record
from evergrid.config.settings import Settings
from evergrid.kafka.cluster_probe import reach
from evergrid.model.errors import BrokenPromise, LinkError
from evergrid.model.generation import TableTopic
from evergrid.model.table import Table

_ALIVE_SECONDS = 20.0  # a pipeline writes a heartbeat every 5 seconds
_LOAD_SECONDS = 0.1
_ANSWER_SECONDS = 5.0  # one answer may be late on a busy machine


class _ControlFeed(Feed):
    """Reads the manifest, and of the changelogs that of the control messages alone."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.kafka.internal, settings.internal_topics.prefix)
        self._table = settings.system_tables.control_raw

    def _wanted(self) -> dict[str, tuple[TableTopic, int]]:
        target = self._manifest.system.get(self._table)
        return {} if target is None else {target.topic: (target, 0)}


class ControlMonitor:
    """The manifest, all control messages known at the start, and the verdicts since then.

    A row in `history` with the id of a new message belongs to a control topic that was deleted
    since. `update` brings manifest and verdicts up to date; without Kafka, `problem` says why not.
    """

    def __init__(self, settings: Settings) -> None:
        reach(settings.kafka.internal)
        self._feed = _ControlFeed(settings)
        self._heartbeat_at = 0.0
        self.manifest = Manifest()
        self.verdicts: dict[str, Row] = {}
        self.problem = ""
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not self.update(_LOAD_SECONDS):
            if self.problem and time.monotonic() > deadline:
                self.close()
                raise LinkError(self.problem)
        self._heartbeat_at -= max(0.0, time.time() - self.manifest.heartbeat / 1_000_000)
        target = self.manifest.system.get(settings.system_tables.control_raw)
        order = target.table.order if target else ()
        self.history = sorted(
            self.verdicts.values(), key=lambda row: [int(row[name] or 0) for name in order]
        )
        self.verdicts = {}

    @property
    def alive(self) -> bool:
        """Whether there was a heartbeat of a pipeline lately."""
        quiet_seconds = time.monotonic() - self._heartbeat_at
        return bool(self.manifest.heartbeat) and quiet_seconds < _ALIVE_SECONDS

    def update(self, seconds: float) -> bool:
        """Read new records for about `seconds`; whether all that was there has been read."""
        found = self._feed.read(seconds)
        if found.manifest.heartbeat != self.manifest.heartbeat:
            self._heartbeat_at = time.monotonic()
        self.manifest, self.problem = found.manifest, found.down
        for arrivals in found.arrivals:
            for record in arrivals.records:
                _keep(self.verdicts, record, arrivals.key.table)
        return not self.problem and all(each.complete for each in found.reached.values())

    def close(self) -> None:
        self._feed.close()


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
