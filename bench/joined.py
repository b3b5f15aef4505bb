"""Rows of the default join, made up fast: as a changelog has them, and as a store takes them.

Each number is a row. Another version of the same number is the same row with another person
and another account in it, so that it moves in every order but that of time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evergrid.config import load
from evergrid.demo.sample_events import ACCOUNT_TYPES, ACCOUNTS, USERS
from evergrid.demo.sample_people import person, user_id
from evergrid.model.table import Retention, Table

KEYS = 20_000
_FACES = 997  # making up each person costs more than a row may
_KINDS = [account.name for account in ACCOUNT_TYPES]
# Multiplied by this, numbers in a row fall evenly over all of 32 bits and look like chance.
_SPREAD, _STEP, _BITS = 2_654_435_761, 7_368_787, 0xFFFF_FFFF
_CENTS = 10_000_000
_APART_US = 100


def joined_table(rows: int) -> Table:
    """The default join's table, with room for so many rows."""
    table = load(None, {}).joined_tables()[0]
    week = table.retention.age_seconds
    return msgspec.structs.replace(table, retention=Retention(rows, week))


class JoinedRows:
    """Rows of people with so many keys, one every 100 microseconds from `start_us` on."""

    def __init__(self, keys: int, start_us: int) -> None:
        rng = random.Random(1)
        faces = [person(rng, number) for number in range(min(keys, _FACES))]
        self._keys = keys
        self._start_us = start_us
        self._ids = [user_id(number) for number in range(keys)]
        # With a number in it, as addresses of people who share a name have one.
        self._names = [faces[n % len(faces)].name for n in range(keys)]
        self._emails = [f"{n}.{faces[n % len(faces)].email}" for n in range(keys)]
        self._columns = [pa.array(texts) for texts in (self._ids, self._names, self._emails)]

    def values(self, numbers: Iterable[int], version: int = 0) -> list[bytes]:
        """As the changelog has them."""
        return [self.value(number, version) for number in numbers]

    def value(self, number: int, version: int = 0, ts: int = 0, kind: str = "") -> bytes:
        """One row; `ts` and `kind` of account replace its own."""
        mixed = (number + version * _STEP) * _SPREAD & _BITS
        key = mixed * self._keys >> 32
        cents = mixed % _CENTS
        user, ts = self._ids[key], ts or self._ts(number)
        return (
            f'{{"userId":"{user}","name":"{self._names[key]}","email":"{self._emails[key]}",'
            f'"age":{18 + key % 80},"accounts_userId":"{user}",'
            f'"accountType":"{kind or _KINDS[mixed % len(_KINDS)]}",'
            f'"balance":"{cents // 100}.{cents % 100:02d}","ts":{ts},'
            f'"_users_topic":"{USERS}","_users_partition":{number % 2},'
            f'"_users_offset":{number // 2},"_users_ts":{ts},'
            f'"_accounts_topic":"{ACCOUNTS}","_accounts_partition":{number % 2},'
            f'"_accounts_offset":{version},"_accounts_ts":{ts}}}'
        ).encode()

    def batch(self, numbers: NDArray[np.int64], version: int = 0) -> pa.RecordBatch:
        """The same rows as columns."""
        mixed = (numbers + version * _STEP) * _SPREAD & _BITS
        keys = mixed * self._keys >> 32
        users, names, emails = (column.take(pa.array(keys)) for column in self._columns)
        cents = pa.array(mixed % _CENTS).cast(pa.decimal128(19, 0))
        ts = self._start_us + numbers * _APART_US
        columns = {
            "userId": users,
            "name": names,
            "email": emails,
            "age": 18 + keys % 80,
            "accounts_userId": users,
            "accountType": pa.array(_KINDS).take(pa.array(mixed % len(_KINDS))),
            "balance": _hundredths(cents),
            "ts": ts,
            "_users_topic": _same(USERS, len(numbers)),
            "_users_partition": numbers % 2,
            "_users_offset": numbers // 2,
            "_users_ts": ts,
            "_accounts_topic": _same(ACCOUNTS, len(numbers)),
            "_accounts_partition": numbers % 2,
            "_accounts_offset": np.full(len(numbers), version),
            "_accounts_ts": ts,
        }
        arrays = [v if isinstance(v, pa.Array) else pa.array(v) for v in columns.values()]
        return pa.RecordBatch.from_arrays(arrays, list(columns))

    def _ts(self, number: int) -> int:
        return self._start_us + number * _APART_US


def row_id(number: int) -> bytes:
    return f"{number % 2}:{number // 2}".encode()


def start_for(rows: int, now_us: int) -> int:
    """Where to begin so that the last of so many rows is a minute old."""
    return now_us - rows * _APART_US - 60_000_000


def _hundredths(cents: pa.Array) -> pa.Array:
    """The same digits with the point two places further left."""
    return pa.Array.from_buffers(pa.decimal128(18, 2), len(cents), cents.buffers())


def _same(text: str, count: int) -> pa.Array:
    return pa.array([text]).take(pa.array(np.zeros(count, np.int64)))
