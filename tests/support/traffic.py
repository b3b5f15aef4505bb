"""Long streams of messages for the two sources of a join, as busy topics have them.

stream = Stream(Traffic(seed=7, keys=10, late_share=0.05, late_ms=300_000), users, accounts)
world.send(list(stream.sends(0, 20_000)))

Message number n is worked out from the seed and n alone. So a stream can be made again in any
piece and at any time, and ten million messages need no memory.
"""

from __future__ import annotations

import json
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from evergrid.testing.oracle import SourceSpec
from evergrid.testing.random_cases import START_MS, Send, bad_values, decimal_text

_REPEATED_FROM = 50  # how many messages back a repeated one may be
_UNITS_PER_MS = {"ms": (1, 1), "us": (1_000, 1), "ns": (1_000_000, 1), "s": (1, 1_000)}


@dataclass(frozen=True)
class Traffic:
    """What a stream is like.

    keys           how many there are; `skew` is Zipf's exponent, 0 makes all alike
    left_share     share of messages that go to the left source
    late_share     share of messages with a time up to `late_ms` before those around them
    ties           how many messages in a row have the same time; the next have it `step_ms` later
    repeat_share   share of messages that repeat an earlier one, time included
    no_key_share   share of messages whose key (and group) is null or missing
    bad_share      share of messages that must go to quarantine
    group_span     messages after which `Stream.group` begins a new group of each key, and
                   `long_group_share` of all messages belong to one group that goes on for ever
    """

    seed: int
    keys: int = 10
    skew: float = 0.0
    left_share: float = 0.3
    late_share: float = 0.0
    late_ms: int = 300_000
    ties: int = 1
    step_ms: int = 3
    repeat_share: float = 0.0
    no_key_share: float = 0.0
    bad_share: float = 0.0
    partitions: int = 2
    start_ms: int = START_MS
    prefix: str = "k"
    group_span: int = 40
    long_group_share: float = 0.01


class Stream:
    """The messages of a Traffic, by number.

    `group` names a text field that both sources have: it splits each key's messages into many
    groups, so that an inner join on it has about as many pairs as there are messages.
    """

    def __init__(
        self, traffic: Traffic, left: SourceSpec, right: SourceSpec, group: str | None = None
    ) -> None:
        self.traffic = traffic
        self._sides = {True: _Side(left, group), False: _Side(right, group)}
        weights = [1 / rank**traffic.skew for rank in range(1, traffic.keys + 1)]
        total = sum(weights)
        self._bounds = [int(part / total * 2**32) for part in accumulate(weights)]
        self._bounds[-1] = 2**32

    def sends(self, start: int, stop: int) -> Iterator[Send]:
        """The messages with these numbers, in order."""
        return map(self.send, range(start, stop))

    def send(self, number: int) -> Send:
        """Message `number`."""
        traffic = self.traffic
        delivery = _numbers(~traffic.seed, number)
        partition = delivery.randrange(traffic.partitions)
        if number and delivery.random() < traffic.repeat_share:
            number -= 1 + delivery.randrange(min(number, _REPEATED_FROM))
        return self._content(number, partition)

    def _content(self, number: int, partition: int) -> Send:
        traffic = self.traffic
        chance = _numbers(traffic.seed, number)
        side = self._sides[chance.random() < traffic.left_share]
        rank = bisect_right(self._bounds, chance.randrange(2**32))
        key: str | None = f"{traffic.prefix}{rank}"
        kind = chance.random()
        at = traffic.start_ms + number // traffic.ties * traffic.step_ms
        if chance.random() < traffic.late_share:
            at -= chance.randrange(traffic.late_ms)
        if kind < traffic.bad_share:
            value = side.bad[chance.randrange(len(side.bad))]
        else:
            if kind < traffic.bad_share + traffic.no_key_share:
                key = None
            value = side.value(number, key, at, self._group(number, rank, chance), chance)
        return Send(side.topic, partition, at, None if key is None else key.encode(), value)

    def _group(self, number: int, rank: int, chance: random.Random) -> str:
        traffic = self.traffic
        if chance.random() < traffic.long_group_share:
            return f"{traffic.prefix}-long"
        return f"{traffic.prefix}{rank}/{number // traffic.group_span}"


class _Side:
    """What messages of one source look like."""

    def __init__(self, source: SourceSpec, group: str | None) -> None:
        self.topic = source.topic
        self.bad = bad_values(source)
        self._key = source.key
        self._group = group
        self._fields = [
            (column, json.dumps(source.json_name(column)), _maker(source, column))
            for column in source.fields
        ]

    def value(
        self, number: int, key: str | None, at: int, group: str, chance: random.Random
    ) -> bytes:
        members = []
        for column, name, make in self._fields:
            if column not in (self._key, self._group):
                members.append(f"{name}: {make(number, at, chance)}")
            elif key is not None:
                members.append(f'{name}: "{key if column == self._key else group}"')
            elif number % 2:
                members.append(f"{name}: null")
        return f"{{{', '.join(members)}}}".encode()


_Maker = Callable[[int, int, random.Random], str]


def _maker(source: SourceSpec, column: str) -> _Maker:
    """How a field's JSON text is made from a message's number and time."""
    kind = source.fields[column]
    if column == source.time:
        more, less = _UNITS_PER_MS[kind.removeprefix("timestamp(").removesuffix(")")]
        if less > 1:
            return lambda _, at, __: f"{at // less}.{at % less:03d}"
        return lambda _, at, __: str(at * more)
    if kind == "text":
        return lambda number, _, __: f'"{column} {number}"'
    if kind == "boolean":
        return lambda _, __, chance: ("false", "true")[chance.randrange(2)]
    if kind.startswith("timestamp"):
        return lambda _, __, chance: str(chance.randrange(2_000_000_000))
    if kind.startswith("decimal"):
        scale = int(kind.rpartition(",")[2].rstrip(")"))
        return lambda _, __, chance: decimal_text(chance.randrange(10_000), scale)
    return lambda _, __, chance: str(chance.randrange(100_000))


def _numbers(seed: int, number: int) -> random.Random:
    """Random numbers that belong to one number of a stream."""
    return random.Random((seed << 64) + number)
