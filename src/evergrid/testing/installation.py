"""A whole Evergrid for tests: topics on a broker, a configuration, a pipeline process.

A test starts the same commands as a user.
"""

from __future__ import annotations

import itertools
import operator
import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import yaml

from evergrid.changelog.codec import Row
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.reader import load_manifest, read_to_end
from evergrid.config.settings import Connection
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender, SentPosition
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import LinkError
from evergrid.testing import oracle
from evergrid.testing.changelog_tables import FollowedTable, wait_for
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.random_cases import Send

# A test's Java ends before an optimising compiler, threads that collect garbage and a check of
# Spark's own classes have paid for themselves: a fifth of the time that a start takes.
SHORT_LIVED: Mapping[str, str] = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    " -XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions"
    " -XX:-BytecodeVerificationRemote"
}
_SPARK: Mapping[str, object] = {"driver_memory": "1g", "settings": SHORT_LIVED}

# What comes within seconds on an idle machine has minutes on a busy one.
_PATIENCE_SECONDS = 600.0


class Installation:
    """One configuration on one broker, in one directory.

    `config` is what a user's file would hold; address, data directory and a retention
    that keeps old test data are filled in.
    """

    def __init__(self, folder: Path, connection: Connection, config: Mapping[str, object]) -> None:
        self.folder = folder
        self.connection = connection
        self.data_dir = folder / "data"
        self.config = {
            "data_dir": str(self.data_dir),
            "kafka": {"bootstrap": connection.bootstrap},
            "retention": {"default": {"rows": 10_000_000, "age": "never"}},
            **config,
            "spark": {**_SPARK, **_section(config, "spark")},
        }
        self.spec = oracle.from_config(self.config)
        self.file = folder / "evergrid.yaml"
        self.file.write_text(yaml.safe_dump(self.config, sort_keys=False))
        self.messages: list[oracle.Message] = []
        self._readings = oracle.Readings(self.spec.limits)
        self._followed: dict[str, FollowedTable] = {}

    @property
    def prefix(self) -> str:
        return str(_section(self.config, "internal_topics").get("prefix", "evergrid"))

    def make_topics(self, partitions: int = 2) -> None:
        """Create source topics without a retention time."""
        topics.create(
            self.connection,
            [
                NewTopicSpec(source.topic, partitions, 1, {"retention.ms": "-1"})
                for source in self.spec.sources.values()
            ],
        )

    def send(self, sends: Iterable[Send]) -> None:
        """Send messages and record them with their offsets."""
        sends = list(sends)
        sender = Sender(self.connection)
        places: list[SentPosition | None] = []
        for send in sends:
            sender.send(
                send.topic,
                send.value,
                send.key,
                timestamp_ms=send.timestamp_ms,
                partition=send.partition,
                sent=places,
            )
        sender.flush(_PATIENCE_SECONDS)
        for send, place in zip(sends, places, strict=True):
            assert place is not None
            self.messages.append(send.at(place.offset))

    def record_duplicates(self) -> None:
        """Record what the topics hold twice: a message that a broker has written, but was killed
        before it said so, may be sent again."""
        known = {(one.topic, one.partition, one.offset) for one in self.messages}
        contents = {(one.topic, one.partition, one.key, one.value) for one in self.messages}
        for topic in sorted({one.topic for one in self.messages}):
            for record in itertools.chain.from_iterable(read_to_end(self.connection, topic)):
                if (topic, record.partition, record.offset) not in known:
                    assert (topic, record.partition, record.key, record.value) in contents
                    send = Send(
                        topic, record.partition, record.timestamp_ms, record.key, record.value
                    )
                    self.messages.append(send.at(record.offset))

    def start_pipeline(self, env: Mapping[str, str] | None = None) -> EvergridProcess:
        return EvergridProcess(
            ["pipeline", "-c", str(self.file)],
            self.folder / "screen.txt",
            env={**os.environ, **(env or {})},
        )

    def start_live(self, seconds: float = _PATIENCE_SECONDS) -> EvergridProcess:
        """Start a pipeline and wait until it is live."""
        process = self.start_pipeline()
        try:
            process.wait_for_words("is live", seconds)
        except AssertionError:
            process.kill()
            raise
        return process

    def manifest(self) -> Manifest:
        return load_manifest(self.connection, self.prefix)

    def table(self, name: str) -> dict[str, Row]:
        """A table's rows, read from its changelog now."""
        table = FollowedTable(self.connection, self.manifest().tables()[name])
        table.catch_up()
        table.rest()
        return table.rows

    def expected(self, name: str) -> oracle.Table:
        """The rows that the table must have after all messages so far, by the oracle."""
        for source in self.spec.sources.values():
            if source.table == name:
                return oracle.raw(self.messages, source, readings=self._readings)
        for join in self.spec.joins.values():
            if join.table == name:
                return oracle.join(self.messages, join, self.spec.sources, readings=self._readings)
        return oracle.quarantine(self.messages, self.spec.sources, readings=self._readings)

    def tables(self) -> list[str]:
        sources, joins = self.spec.sources.values(), self.spec.joins.values()
        return [*(one.table for one in sources), *(one.table for one in joins), "quarantine"]

    def wait_until_exact(
        self,
        names: Iterable[str] | None = None,
        seconds: float = _PATIENCE_SECONDS,
        idle_seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        """Return when every table equals the oracle's, ids and columns included.

        AssertionError after `seconds`, or when nothing was written for `idle_seconds`.
        """
        for name in names if names is not None else self.tables():
            comparison = _Comparison(self.expected(name))
            try:
                look = partial(self._look, name, comparison, idle_seconds)
                wait_for(look, operator.not_, seconds)
            except AssertionError:
                raise AssertionError(f"{name}: {comparison.differences()}") from None
            finally:
                for followed in self._followed.values():
                    followed.rest()

    def summary(self) -> str:
        """For each table, how many rows differ from the oracle's now."""
        lines = []
        for name in self.tables():
            report = oracle.differences(self.expected(name), self.table(name), limit=0)
            lines.append(f"{name}: {report.partition(';')[0] or 'exact'}")
        return "\n".join(lines)

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Return when `condition` holds; AssertionError after `seconds`."""
        wait_for(condition, bool, seconds)

    def followed(self, name: str) -> FollowedTable:
        """The current generation's table, read on from where it was looked at last."""
        target = self.manifest().tables()[name]
        known = self._followed.get(name)
        if known is None or not known.is_still(target):
            known = self._followed[name] = FollowedTable(self.connection, target)
        return known

    def _look(self, name: str, comparison: _Comparison, idle_seconds: float) -> str:
        if comparison.idle() > idle_seconds:
            raise AssertionError(f"nothing was written to {name} for {idle_seconds:.0f} seconds")
        try:
            return comparison.look(self.followed(name))
        except LinkError as error:  # the generation that was just read has been taken away
            self._followed.pop(name, None)
            return error.sentence()

    def commits(self) -> dict[str, int]:
        """How many batches each query of the current generation has committed.

        A raw table that an earlier generation made is counted under that one's checkpoint.
        """
        return {
            name: len(list((checkpoint / "commits").glob("[0-9]*")))
            for name, checkpoint in self.checkpoints().items()
        }

    def checkpoints(self) -> dict[str, Path]:
        """The folder of each query's checkpoint, by the query's name: the newest of that name."""
        current = self.manifest().current or 0
        found = {}
        for number in range(1, current + 1):
            for checkpoint in (self.data_dir / "generations" / f"g{number}").glob("*"):
                if checkpoint.is_dir():
                    found[checkpoint.name] = checkpoint
        return found


class _Comparison:
    """Compares a table with the oracle's; checks again only rows that changed or differed."""

    def __init__(self, expected: oracle.Table) -> None:
        self._expected = expected
        self._followed: FollowedTable | None = None
        self._wrong: set[str] = set()
        self._changed_at = time.monotonic()

    def idle(self) -> float:
        """For how many seconds nothing has come."""
        return time.monotonic() - self._changed_at

    def look(self, followed: FollowedTable) -> str:
        """Empty when the table is as expected now."""
        changed = followed.catch_up()
        if changed:
            self._changed_at = time.monotonic()
        if followed is not self._followed:
            self._followed = followed
            changed = self._expected.keys() | followed.rows.keys()
        self._wrong = oracle.differing(self._expected, followed.rows, changed | self._wrong)
        return f"{len(self._wrong)} rows differ" if self._wrong else ""

    def differences(self) -> str:
        if self._followed is None:
            return "it could not be read"
        return oracle.differences(self._expected, self._followed.rows)


def _section(config: Mapping[str, object], name: str) -> Mapping[str, object]:
    section = config.get(name, {})
    assert isinstance(section, Mapping)
    return section
