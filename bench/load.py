"""The load: a past that is already there, a steady stream, or as much as goes at once.

Live messages carry the microsecond of their sending as text, the user in `name` and the
account in `accountType`: it comes back in the joined row, so that who reads that row knows
how long it took without any bookkeeping in between.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import msgspec

from bench.sample_history import history
from evergrid.config.settings import Connection
from evergrid.demo.sample_events import ACCOUNTS, USERS
from evergrid.demo.sample_people import user_id
from evergrid.kafka.message_sender import Sender

USERS_SHARE = 11  # one user for every ten accounts
_FLUSH_SECONDS = 300.0


class Past(msgspec.Struct, frozen=True, tag=True):
    """Users and accounts that were sent a day ago, evenly over the keys."""

    bootstrap: str
    users: int
    accounts: int
    keys: int
    start_ms: int


class Steady(msgspec.Struct, frozen=True, tag=True):
    """So many messages at an even rate, keys at random."""

    bootstrap: str
    count: int
    rate: float
    keys: int


class Backlog(msgspec.Struct, frozen=True, tag=True):
    """So many accounts as fast as the broker takes them, keys at random."""

    bootstrap: str
    count: int
    keys: int


class Loaded(msgspec.Struct, frozen=True):
    """What was sent, and the wall clock in microseconds before the first and after the last."""

    users: int
    accounts: int
    began_us: int
    ended_us: int


Load = Past | Steady | Backlog


def run(load: Load) -> Loaded:
    """Send all of it; returns when the broker has it."""
    # The stream is timed from before it is handed over, so nothing may linger for company.
    linger = 0 if isinstance(load, Steady) else 50
    sender = Sender(_connection(load.bootstrap), **{"linger.ms": linger})
    counts = {USERS: 0, ACCOUNTS: 0}
    began = now_us()
    for topic in _send(load, sender):
        counts[topic] += 1
    sender.flush(_FLUSH_SECONDS)
    return Loaded(counts[USERS], counts[ACCOUNTS], began, now_us())


def accounts_among(count: int) -> int:
    """How many of the first `count` messages of a steady stream are accounts."""
    return count - -(-count // USERS_SHARE)


def now_us() -> int:
    return time.time_ns() // 1000


def _connection(bootstrap: str) -> Connection:
    return Connection(name="bench", bootstrap=bootstrap)


def _send(load: Load, sender: Sender) -> Iterator[str]:
    """Sends one message at a time and names its topic."""
    if isinstance(load, Past):
        return _send_past(load, sender)
    return _send_steady(load, sender) if isinstance(load, Steady) else _send_backlog(load, sender)


def _send_past(load: Past, sender: Sender) -> Iterator[str]:
    past = history(load.users, load.accounts, load.keys, start_ms=load.start_ms)
    for event in past:
        sender.send(event.source, event.value, event.key, timestamp_ms=event.timestamp_ms)
        yield event.source


def _send_steady(load: Steady, sender: Sender) -> Iterator[str]:
    rng = random.Random(1)
    ids = [user_id(number) for number in range(load.keys)]
    start = time.perf_counter()
    for number in range(load.count):
        wait = start + number / load.rate - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
        key = rng.choice(ids)
        topic = ACCOUNTS if number % USERS_SHARE else USERS
        stamp = now_us()
        value = _account(key, stamp) if topic == ACCOUNTS else _user(key, stamp)
        sender.send(topic, value, key.encode(), timestamp_ms=stamp // 1000)
        yield topic


def _send_backlog(load: Backlog, sender: Sender) -> Iterator[str]:
    rng = random.Random(2)
    ids = [user_id(number) for number in range(load.keys)]
    for _ in range(load.count):
        key = ids[int(rng.random() * load.keys)]
        stamp = now_us()
        sender.send(ACCOUNTS, _account(key, stamp), key.encode(), timestamp_ms=stamp // 1000)
        yield ACCOUNTS


def _user(key: str, stamp: int) -> bytes:
    return f'{{"userId":"{key}","name":"{stamp}","email":"{key}@example.com","age":42}}'.encode()


def _account(key: str, stamp: int) -> bytes:
    return f'{{"userId":"{key}","accountType":"{stamp}","balance":{stamp % 100000}.25}}'.encode()
