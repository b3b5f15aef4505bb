"""Tables as a reader of the changelogs has them, to compare with the oracle."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from evergrid.changelog.codec import Row, decode, is_older
from evergrid.changelog.reader import TopicReader, read_up_to
from evergrid.config.settings import Connection
from evergrid.kafka import topics
from evergrid.model.errors import LinkError
from evergrid.model.generation import TableTopic
from evergrid.model.source import TopicEnd

_LOOK_SECONDS = 0.3

Value = TypeVar("Value")


class FollowedTable:
    """A table that is read incrementally, so that repeated reads are cheap."""

    def __init__(self, connection: Connection, target: TableTopic) -> None:
        self.target = target
        self.rows: dict[str, Row] = {}
        self._connection = connection
        self._topic_id = _topic_id(connection, target.topic)
        self._starts = topics.offsets(connection, target.topic, TopicEnd.EARLIEST)
        self._next = dict(self._starts)
        self._reader: TopicReader | None = None

    def is_still(self, target: TableTopic) -> bool:
        """Whether `target` is the same topic, with nothing of its beginning taken away."""
        return (
            (target.topic, target.table) == (self.target.topic, self.target.table)
            and _topic_id(self._connection, target.topic) == self._topic_id
            and topics.offsets(self._connection, target.topic, TopicEnd.EARLIEST) == self._starts
        )

    def catch_up(self) -> set[str]:
        """Read on to where the changelog ends now; the ids of the rows that came."""
        topic = self.target.topic
        ends = topics.offsets(self._connection, topic, TopicEnd.LATEST)
        if self._reader is None:
            self._reader = TopicReader(self._connection, {topic: self._next})
        ids = set()
        for records in read_up_to(self._reader, topic, ends):
            for record in records:
                change = decode(record.key, record.value)
                ids.add(change.row_id)
                self._apply(change.row_id, change.row)
        places = self._reader.positions()
        self._next = {partition: places[topic, partition] for partition in self._next}
        return ids

    def _apply(self, row_id: str, row: Row | None) -> None:
        """An upsert or a delete; what is older than what is there is left out."""
        if row is None:
            self.rows.pop(row_id, None)
        elif row_id not in self.rows or not is_older(row, self.rows[row_id], self.target.table):
            self.rows[row_id] = row

    def rest(self) -> None:
        """Close the connection; the next read continues from here."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _topic_id(connection: Connection, topic: str) -> str:
    found = topics.describe(connection, [topic]).get(topic)
    if found is None:
        raise LinkError(f"topic {topic} is gone")
    return found.topic_id


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
