"""A long history of valid sample events, in the order of their times, for load tests."""

from __future__ import annotations

import random
from collections.abc import Iterator

from evergrid.demo.sample_events import ACCOUNT_TYPES, ACCOUNTS, USERS, Event
from evergrid.demo.sample_people import person, user_id

START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
_FACES = 997  # people that the keys share, because making up each one would be slow


def history(
    users: int = 100_000,
    accounts: int = 1_000_000,
    keys: int = 20_000,
    seed: int = 0,
    start_ms: int = START_MS,
) -> Iterator[Event]:
    """Exactly so many events of each source, spread evenly, one every millisecond."""
    rng = random.Random(seed)
    ids = [user_id(number) for number in range(keys)]
    encoded = [key.encode() for key in ids]
    faces = [person(rng, number) for number in range(_FACES)]
    kinds = [account.name for account in ACCOUNT_TYPES]
    total = users + accounts
    sent = 0
    for index in range(total):
        timestamp_ms = start_ms + index
        if sent * total < users * (index + 1) and sent < users:
            place = sent % keys
            face = faces[sent % _FACES]
            text = (
                f'{{"userId":"{ids[place]}","name":"{face.name}",'
                f'"email":"{face.email}","age":{18 + sent % 80}}}'
            )
            sent += 1
            yield Event(USERS, encoded[place], text.encode(), timestamp_ms, 0.0)
            continue
        place = int(rng.random() * keys)
        amount = int(rng.random() * 10_000_000)
        text = (
            f'{{"userId":"{ids[place]}","accountType":"{kinds[amount & 3]}",'
            f'"balance":{amount // 100}.{amount % 100:02d}}}'
        )
        yield Event(ACCOUNTS, encoded[place], text.encode(), timestamp_ms, 0.0)
