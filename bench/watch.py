"""The reader of the joined table's changelog, with the moment at which each change came."""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping

import msgspec

from bench.load import now_us
from evergrid.changelog.reader import Record, TopicReader
from evergrid.config.settings import Connection
from evergrid.model.errors import LinkError

# The reader waits for as long as it is allowed to fill a batch, so this is also what it may
# add to a latency.
_POLL_SECONDS = 0.002
_QUIET_SECONDS = 2.0  # after the last account: an inner join may still have pairs of it


class Watch(msgspec.Struct, frozen=True, tag=True):
    """Read `topic` from `start` on until `accounts` different accounts have shown up.

    Only messages sent since `since_us` count: a user may still show an account from before.
    """

    bootstrap: str
    topic: str
    start: Mapping[int, int]
    accounts: int
    since_us: int
    seconds: float


class Watched(msgspec.Struct, frozen=True):
    """Each change with a time of its own: when it came, and how old its newer message was.

    `accounts` is how many different accounts were seen.
    """

    arrived_us: list[int]
    age_us: list[int]
    accounts: int


class _Joined(msgspec.Struct, gc=False):
    """The part of a joined row that tells when it could have been there."""

    name: str | None
    accountType: str | None
    partition: int | None = msgspec.field(name="_accounts_partition")
    offset: int | None = msgspec.field(name="_accounts_offset")


def run(watch: Watch) -> Watched:
    """Follow the changelog until all accounts came, or for as long as the task says."""
    connection = Connection(name="bench", bootstrap=watch.bootstrap)
    reader = TopicReader(connection, {watch.topic: watch.start})
    log = _Log(watch.since_us)
    deadline = time.monotonic() + watch.seconds
    last = time.monotonic()
    try:
        while time.monotonic() < deadline:
            records = reader.read(_POLL_SECONDS)
            if records:
                last = time.monotonic()
                log.take(records, now_us())
            elif len(log.accounts) >= watch.accounts and time.monotonic() - last > _QUIET_SECONDS:
                break
    finally:
        reader.close()
    if not log.age:
        raise LinkError("not one change came", where=f"topic {watch.topic}")
    return Watched(list(log.arrived), list(log.age), len(log.accounts))


class _Log:
    def __init__(self, since_us: int) -> None:
        self._since_us = since_us
        self.arrived = array("q")
        self.age = array("q")
        self.accounts: set[tuple[int | None, int | None]] = set()
        self._decoder = msgspec.json.Decoder(_Joined)

    def take(self, records: list[Record], arrived: int) -> None:
        for record in records:
            if record.value is None:
                continue
            row = self._decoder.decode(record.value)
            account, user = stamp_of(row.accountType), stamp_of(row.name)
            newer = max(account, user)
            if newer < self._since_us:
                continue
            if account >= self._since_us:
                self.accounts.add((row.partition, row.offset))
            self.arrived.append(arrived)
            self.age.append(arrived - newer)


def stamp_of(text: str | None) -> int:
    """The moment that a live message carries; 0 for a message of the past."""
    return int(text) if text is not None and text.isdigit() else 0
