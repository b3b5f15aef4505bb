"""What the pipeline says of control messages, followed through Kafka, without a gateway."""

from __future__ import annotations

import time

from evergrid.changelog.codec import Row, decode
from evergrid.changelog.manifest import Manifest, apply
from evergrid.changelog.names import manifest_topic
from evergrid.changelog.reader import Record, TopicReader, fold, read_to_end
from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.kafka.identity import where
from evergrid.kafka.probe import Pulse, reach
from evergrid.model.errors import LinkError
from evergrid.model.source import Edge

# A pipeline beats every 5 seconds.
SILENT_SECONDS = 20.0
_QUIET_SECONDS = 6.0
_ANSWER_SECONDS = 1.0


class Watch:
    """The manifest, and the verdicts that came since; up to date with each `look`.

    Verdicts are taken from where their changelog ended at first: a row of the same id from
    before is that of a control topic which is not there any more.
    """

    def __init__(self, settings: Settings) -> None:
        self._connection = settings.kafka.internal
        self._manifest_topic = manifest_topic(settings.internal_topics.prefix)
        self._table = settings.system_tables.control_raw
        self._pulse = Pulse(self._connection)
        self._reader: TopicReader | None = None
        self._next: dict[str, dict[int, int]] = {}
        self._heard_at = self._felt_at = 0.0
        self._missed = 0  # times in a row that nobody answered
        self.manifest = Manifest()
        self.verdicts: dict[str, Row] = {}
        self.trouble = ""
        reach(self._connection)
        self._open(Edge.LATEST)

    @property
    def alive(self) -> bool:
        """Whether a pipeline has given a sign of life lately."""
        return bool(self.manifest.pulse) and time.monotonic() - self._heard_at < SILENT_SECONDS

    def look(self, seconds: float) -> None:
        """Take what has come, waiting at most about so long; a broker away is no error."""
        try:
            if self._reader is None:
                time.sleep(seconds)
                self._open(Edge.EARLIEST)
                self.trouble = ""
                return
            for record in self._reader.read(seconds):
                self._take(record)
            self._listen()
            self._follow(Edge.EARLIEST)
        except LinkError as error:
            self.close()
            self.trouble = error.sentence()
            time.sleep(seconds)

    def history(self) -> list[Row]:
        """Every control message that is known, with its verdict, the oldest first."""
        target = self.manifest.system.get(self._table)
        if target is None or target.topic not in topics.describe(self._connection, [target.topic]):
            return []
        rows: dict[str, Row] = {}
        for batch in read_to_end(self._connection, target.topic):
            for record in batch:
                change = decode(record.key, record.value)
                if change.row is None:
                    rows.pop(change.row_id, None)
                else:
                    rows[change.row_id] = change.row
        order = target.table.order
        return sorted(rows.values(), key=lambda row: [int(row[name] or 0) for name in order])

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self, edge: Edge) -> None:
        """Begin to read, if there is something; verdicts that are new to us from `edge`."""
        name = self._manifest_topic
        if name not in topics.describe(self._connection, [name]):
            return
        # Taken before reading: what is written meanwhile is applied twice rather than never.
        self._next[name] = topics.offsets(self._connection, name, Edge.LATEST)
        self.manifest = fold(Manifest(), read_to_end(self._connection, name))
        passed = max(0.0, time.time() - self.manifest.pulse / 1_000_000)
        self._heard_at = time.monotonic() - passed
        self._follow(edge)
        if self._reader is None:
            self._reader = TopicReader(self._connection, self._next)

    def _follow(self, edge: Edge) -> None:
        """Read the verdicts too, as soon as the manifest says where they are."""
        target = self.manifest.system.get(self._table)
        if target is None or target.topic in self._next:
            return
        if target.topic in topics.describe(self._connection, [target.topic]):
            self._next[target.topic] = topics.offsets(self._connection, target.topic, edge)
            self.close()
            self._reader = TopicReader(self._connection, self._next)

    def _listen(self) -> None:
        """In silence, ask whether it is Kafka's: its client says nothing of a broker away."""
        now = time.monotonic()
        if now - max(self._heard_at, self._felt_at) > _QUIET_SECONDS:
            self._felt_at = now
            answers = self._pulse.feel(_ANSWER_SECONDS) is not None
            self._missed = 0 if answers else self._missed + 1
            # One answer may be late, on a busy machine.
            self.trouble = f"{where(self._connection)} does not answer." if self._missed > 1 else ""

    def _take(self, record: Record) -> None:
        self._next[record.topic][record.partition] = record.offset + 1
        if record.topic != self._manifest_topic:
            change = decode(record.key, record.value)
            if change.row is not None:
                self.verdicts[change.row_id] = change.row
        elif record.key is not None:
            before = self.manifest.pulse
            self.manifest = apply(self.manifest, record.key, record.value)
            if self.manifest.pulse != before:
                self._heard_at = time.monotonic()
                self.trouble, self._missed = "", 0
