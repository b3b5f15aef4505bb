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
    """Read `topic` from `start` on until `accounts` different accounts have shown up."""

    bootstrap: str
    topic: str
    start: Mapping[int, int]
    accounts: int
    seconds: float


class Watched(msgspec.Struct, frozen=True):
    """Each change with a time of its own: when it came, and how old its newer message was.

    `accounts` is how many different live accounts were seen, `repeated` how many changes
    came a second time for the same pair of messages.
    """

    arrived_us: list[int]
    age_us: list[int]
    accounts: int
    repeated: int


class _Joined(msgspec.Struct, gc=False):
    """The part of a joined row that tells when it could have been there."""

    name: str | None
    accountType: str | None
    user_partition: int | None = msgspec.field(name="_users_partition")
    user_offset: int | None = msgspec.field(name="_users_offset")
    account_partition: int | None = msgspec.field(name="_accounts_partition")
    account_offset: int | None = msgspec.field(name="_accounts_offset")


def run(watch: Watch) -> Watched:
    """Follow the changelog; LinkError when not all accounts came within the time."""
    connection = Connection(name="bench", bootstrap=watch.bootstrap)
    reader = TopicReader(connection, {watch.topic: watch.start})
    log = _Log()
    deadline = time.monotonic() + watch.seconds
    last = time.monotonic()
    try:
        while len(log.accounts) < watch.accounts or time.monotonic() - last < _QUIET_SECONDS:
            records = reader.read(_POLL_SECONDS)
            if records:
                last = time.monotonic()
                log.take(records, now_us())
            elif last > deadline or time.monotonic() > deadline:
                break
    finally:
        reader.close()
    if not log.age:
        raise LinkError("not one change came", where=f"topic {watch.topic}")
    return Watched(list(log.arrived), list(log.age), len(log.accounts), log.repeated)


class _Log:
    def __init__(self) -> None:
        self.arrived = array("q")
        self.age = array("q")
        self.accounts: set[int] = set()
        self.repeated = 0
        self._pairs: set[tuple[int, int]] = set()
        self._decoder = msgspec.json.Decoder(_Joined)

    def take(self, records: list[Record], arrived: int) -> None:
        for record in records:
            if record.value is None:
                continue
            row = self._decoder.decode(record.value)
            account, user = _stamp(row.accountType), _stamp(row.name)
            if not account and not user:
                continue
            account_place = _place(row.account_partition, row.account_offset)
            pair = (_place(row.user_partition, row.user_offset), account_place)
            if pair in self._pairs:
                self.repeated += 1
                continue
            self._pairs.add(pair)
            if account:
                self.accounts.add(account_place)
            self.arrived.append(arrived)
            self.age.append(arrived - max(account, user))


def _stamp(text: str | None) -> int:
    """The moment that a live message carries; 0 for a message of the past."""
    return int(text) if text is not None and text.isdigit() else 0


def _place(partition: int | None, offset: int | None) -> int:
    """A message's place as one number; the partition is small, offsets are not."""
    return -1 if partition is None or offset is None else offset << 16 | partition
