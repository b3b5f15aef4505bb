"""Tables of millions of rows against the oracle, without either of them in memory.

Of each row a digest is kept, in an array; messages wait in files by their key, and the oracle
joins one file after the other.
"""

from __future__ import annotations

import hashlib
import marshal
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evergrid.changelog.codec import decode, is_older
from evergrid.changelog.reader import TopicReader, read_up_to
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.model.generation import TableTopic
from evergrid.model.source import TopicEnd
from evergrid.testing import oracle
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Send
from tests.system.conftest import PATIENCE

_NONE = np.iinfo(np.int64).min


class MessageFiles:
    """Sends messages and keeps them on disk, those of one key in one file."""

    def __init__(self, world: Installation, folder: Path, files: int) -> None:
        folder.mkdir()
        self._world = world
        self._sender = Sender(world.connection)
        self._paths = [folder / f"{number}" for number in range(files)]
        self._files = [path.open("wb") for path in self._paths]
        self._next: dict[tuple[str, int], int] = {}

    def send(self, sends: Iterable[Send]) -> None:
        """One producer that never sends twice: offsets are counted, not asked for."""
        for send in sends:
            place = (send.topic, send.partition)
            offset = self._next.get(place, 0)
            self._next[place] = offset + 1
            file = self._files[zlib.crc32(send.key or b"") % len(self._files)]
            marshal.dump((*place, offset, send.timestamp_ms, send.key, send.value), file)
            self._sender.send(
                send.topic,
                send.value,
                send.key,
                timestamp_ms=send.timestamp_ms,
                partition=send.partition,
            )
        self._sender.flush(PATIENCE)
        for (topic, partition), count in self._next.items():
            ends = topics.offsets(self._world.connection, topic, TopicEnd.LATEST)
            assert ends[partition] == count, "the topic holds other messages than were sent"

    def read(self) -> Iterator[list[oracle.Message]]:
        """The messages of one file after the other."""
        for file in self._files:
            file.close()
        for path in self._paths:
            with path.open("rb") as stored:
                messages = []
                while stored.peek(1):
                    messages.append(oracle.Message(*marshal.load(stored)))
                yield messages


class RowDigests:
    """The rows of a table with ids of one partition and offset, as digests."""

    def __init__(self, world: Installation, name: str) -> None:
        self._world = world
        self._target: TableTopic = world.manifest().tables()[name]
        self._digests: dict[int, NDArray[np.uint64]] = {}
        self._versions: dict[int, NDArray[np.int64]] = {}
        self._next = topics.offsets(world.connection, self._target.topic, TopicEnd.EARLIEST)

    def catch_up(self) -> int:
        """Read on to where the changelog ends now; how many changes came."""
        topic, connection = self._target.topic, self._world.connection
        ends = topics.offsets(connection, topic, TopicEnd.LATEST)
        reader = TopicReader(connection, {topic: self._next})
        count = 0
        try:
            for records in read_up_to(reader, topic, ends):
                count += len(records)
                for record in records:
                    change = decode(record.key, record.value)
                    assert change.row is not None, "no row is ever deleted here"
                    self._put(change.row_id, change.row)
            self._next = {part: reader.positions()[topic, part] for part in self._next}
        finally:
            reader.close()
        return count

    def rows(self) -> int:
        return sum(int(np.count_nonzero(digests)) for digests in self._digests.values())

    def is_same(self, row_id: str, row: Mapping[str, oracle.Value]) -> bool:
        partition, offset = _place(row_id)
        digests = self._digests.get(partition)
        return digests is not None and offset < len(digests) and digests[offset] == _digest(row)

    def _put(self, row_id: str, row: Mapping[str, oracle.Value]) -> None:
        partition, offset = _place(row_id)
        digests, versions = self._room(partition, offset)
        names = self._target.table.version
        if digests[offset]:
            known = [None if part == _NONE else int(part) for part in versions[offset]]
            if is_older(row, dict(zip(names, known, strict=True)), self._target.table):
                return
        digests[offset] = _digest(row)
        versions[offset] = [
            _NONE if row.get(name) is None else int(str(row[name])) for name in names
        ]

    def _room(self, partition: int, offset: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        digests = self._digests.get(partition, np.zeros(0, np.uint64))
        if offset >= len(digests):
            more = max(1_000, offset + 1 - len(digests), len(digests))
            width = len(self._target.table.version)
            versions = self._versions.get(partition, np.zeros((0, width), np.int64))
            self._digests[partition] = np.concatenate([digests, np.zeros(more, np.uint64)])
            self._versions[partition] = np.concatenate(
                [versions, np.zeros((more, width), np.int64)]
            )
        return self._digests[partition], self._versions[partition]


def _place(row_id: str) -> tuple[int, int]:
    partition, _, offset = row_id.partition(":")
    return int(partition), int(offset)


def _digest(row: Mapping[str, oracle.Value]) -> np.uint64:
    """Of names, values and their types; never 0, which is no row."""
    text = repr(sorted(row.items())).encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) or 1)
