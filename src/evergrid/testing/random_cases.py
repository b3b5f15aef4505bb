"""Random but repeatable messages of any source, and cases of them for the two of a join.

A case uses keys of its own, so that one running pipeline can carry hundreds of cases
at once. Nothing here touches Kafka: a case is a list of messages to send, in order.
"""

from __future__ import annotations

import datetime
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, replace

from evergrid.testing.oracle import JoinSpec, Message, SourceSpec

START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z

_WORDS = ("Ann", "Zoë Łukasz", "", " ", "O'Neil", 'say "hi"', "a\\b", "line\nend", "李", "😀", "42")
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Send:
    """A message before delivery, when its offset is not yet known."""

    topic: str
    partition: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None

    def at(self, offset: int) -> Message:
        """The message as a topic holds it."""
        place = (self.topic, self.partition, offset)
        return Message(*place, self.timestamp_ms, self.key, self.value)


@dataclass(frozen=True)
class Script:
    """Limits and weights of random cases.

    left_history, right_history   most valid messages of one key and side, for joins whose
                                  `history` is limited; None is no limit
    """

    most_messages: int = 40
    most_keys: int = 4
    partitions: int = 2
    left_history: int | None = None
    right_history: int | None = None
    bad_share: float = 0.05
    start_ms: int = START_MS
    span_ms: int = 8_000


def delivered(
    sends: Iterable[Send], next_offsets: MutableMapping[tuple[str, int], int] | None = None
) -> list[Message]:
    """The messages as an empty (or so far filled) topic would hold them."""
    offsets = {} if next_offsets is None else next_offsets
    messages = []
    for send in sends:
        offset = offsets.get((send.topic, send.partition), 0)
        offsets[send.topic, send.partition] = offset + 1
        messages.append(send.at(offset))
    return messages


def random_case(
    rng: random.Random,
    join: JoinSpec,
    sources: Mapping[str, SourceSpec],
    prefix: str,
    script: Script | None = None,
) -> list[Send]:
    """One to `most_messages` messages whose keys, all text, begin with `prefix`."""
    return _Case(rng, join, sources, prefix, script or Script()).sends()


def bad_values(source: SourceSpec) -> list[bytes | None]:
    """Plain messages that `source` must refuse, one of each kind."""
    wrong = [source.json_name(column) for column, kind in source.fields.items() if kind != "text"]
    return [
        *(None, b"", b"not JSON", b'{"a": 1,}', b'{"a": 1, "a": 2}', b"[]", b'{"a": "\xff"}'),
        *(json.dumps({name: "abc"}).encode() for name in wrong),
    ]


@dataclass(frozen=True)
class _Planned:
    """A message to send and, where it counts for the history bound, its side and key."""

    send: Send
    side: str
    key: str | None


class _Case:
    def __init__(
        self,
        rng: random.Random,
        join: JoinSpec,
        sources: Mapping[str, SourceSpec],
        prefix: str,
        script: Script,
    ) -> None:
        self._rng = rng
        self._script = script
        self._sources = {join.left: sources[join.left], join.right: sources[join.right]}
        self._key_field = {join.left: join.left_key, join.right: join.right_key}
        self._room = {join.left: script.left_history, join.right: script.right_history}
        keys = [f"{prefix}{number}" for number in range(rng.randint(1, script.most_keys))]
        self._keys = {join.left: keys, join.right: [*keys, f"{prefix}unknown"]}
        self._times = [
            script.start_ms + rng.randrange(script.span_ms) for _ in range(rng.randint(1, 10))
        ]
        self._left_share = rng.choice((0.2, 0.5, 0.8))
        self._left = join.left
        self._right = join.right
        self._used: Counter[tuple[str, str]] = Counter()
        self._plan: list[_Planned] = []

    def sends(self) -> list[Send]:
        for _ in range(self._rng.randint(1, self._script.most_messages)):
            planned = self._next()
            if planned.key is not None:
                self._used[planned.side, planned.key] += 1
            self._plan.append(planned)
        self._arrange()
        return [planned.send for planned in self._plan]

    def _next(self) -> _Planned:
        chance = self._rng.random()
        if chance < self._script.bad_share:
            side = self._side()
            value = self._rng.choice(bad_values(self._sources[side]))
            return _Planned(self._send(side, self._rng.choice(self._keys[side]), value), side, None)
        if chance < self._script.bad_share + 0.1 and self._plan:
            again = self._rng.choice(self._plan)
            if again.key is None or self._has_room(again.side, again.key):
                return replace(again, send=replace(again.send, partition=self._partition()))
        return self._valid(self._side())

    def _valid(self, side: str) -> _Planned:
        source = self._sources[side]
        key = self._key(side)
        absent = self._rng.choice((None, "null"))
        fixed: dict[str, str | None] = {
            column: None for column in source.fields if self._rng.random() < 0.1
        }
        fixed[self._key_field[side]] = absent if key is None else json.dumps(key)
        timestamp_ms = self._rng.choice(self._times)
        if source.time is not None:
            moment = self._rng.choice(self._times) * 1000
            fixed[source.time] = time_text(self._rng, source.fields[source.time], moment)
        value = object_text(self._rng, source, fixed).encode()
        send = replace(self._send(side, key, value), timestamp_ms=timestamp_ms)
        return _Planned(send, side, key)

    def _send(self, side: str, key: str | None, value: bytes | None) -> Send:
        """The Kafka key mostly equals the field, but Evergrid must not rely on it."""
        kafka_key = self._rng.choice((key, key, key, key, None, "elsewhere"))
        return Send(
            topic=self._sources[side].topic,
            partition=self._partition(),
            timestamp_ms=self._rng.choice(self._times),
            key=None if kafka_key is None else kafka_key.encode(),
            value=value,
        )

    def _key(self, side: str) -> str | None:
        if self._rng.random() < 0.1:
            return None
        free = [key for key in self._keys[side] if self._has_room(side, key)]
        return self._rng.choice(free) if free else None

    def _has_room(self, side: str, key: str) -> bool:
        room = self._room[side]
        return room is None or self._used[side, key] < room

    def _side(self) -> str:
        return self._left if self._rng.random() < self._left_share else self._right

    def _partition(self) -> int:
        return self._rng.randrange(self._script.partitions)

    def _arrange(self) -> None:
        """In order, one side first, or in reverse: late messages of every kind."""
        orders: tuple[Callable[[_Planned], int], ...] = (
            lambda planned: 0,
            lambda planned: planned.side == self._left,
            lambda planned: planned.side == self._right,
            lambda planned: planned.send.timestamp_ms,
            lambda planned: -planned.send.timestamp_ms,
        )
        self._plan.sort(key=self._rng.choice(orders))


def object_text(rng: random.Random, source: SourceSpec, fixed: Mapping[str, str | None]) -> str:
    """A valid object of `source`; `fixed` gives columns their JSON text, None leaves one out."""
    members = []
    for column, spelling in source.fields.items():
        text = fixed[column] if column in fixed else value_text(rng, spelling)
        if text is not None:
            members.append(f"{json.dumps(source.json_name(column))}:{_gap(rng)}{text}")
    if rng.random() < 0.2:
        rng.shuffle(members)
    return "{" + f",{_gap(rng)}".join(members) + "}"


def value_text(rng: random.Random, spelling: str) -> str:
    """JSON text that a field of type `spelling` accepts, in any of the shapes it may have."""
    if spelling == "text":
        return json.dumps(rng.choice(_WORDS), ensure_ascii=rng.random() < 0.5)
    if spelling == "boolean":
        return rng.choice(("true", "false", '"true"', '"false"'))
    if spelling.startswith("timestamp"):
        return time_text(rng, spelling, rng.randrange(0, 2_000_000_000_000_000))
    if spelling == "float":
        return _maybe_quoted(rng, repr(rng.uniform(-1e6, 1e6)))
    if spelling == "integer":
        size = rng.choice((10, 1_000, 2**31, 2**62))
        return _maybe_quoted(rng, f"{rng.randrange(-size, size)}{rng.choice(('', '', '.0'))}")
    return _maybe_quoted(rng, _decimal(rng, spelling))


def time_text(rng: random.Random, spelling: str, microseconds: int) -> str:
    """One moment as JSON text, ISO 8601 or an epoch number in the unit of `spelling`."""
    unit = spelling.removeprefix("timestamp(").removesuffix(")")
    if rng.random() < 0.5:
        moment = _EPOCH + datetime.timedelta(microseconds=microseconds)
        return '"' + moment.isoformat().replace("+00:00", rng.choice(("Z", "+00:00"))) + '"'
    if unit == "ns":
        return str(microseconds * 1_000)
    whole, rest = divmod(microseconds, _MICROSECONDS[unit])
    places = len(str(_MICROSECONDS[unit])) - 1
    return f"{whole}.{rest:0{places}d}" if rest else str(whole)


def _decimal(rng: random.Random, spelling: str) -> str:
    precision, scale = (int(number) for number in re.findall(r"\d+", spelling))
    units = rng.randrange(10 ** rng.randint(0, precision))
    return rng.choice(("", "-")) + decimal_text(units, scale)


def decimal_text(units: int, scale: int) -> str:
    """A decimal with so many digits after the point."""
    digits = str(units).rjust(scale + 1, "0")
    return f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits


def _maybe_quoted(rng: random.Random, text: str) -> str:
    return f'"{text}"' if rng.random() < 0.2 else text


def _gap(rng: random.Random) -> str:
    return rng.choice(("", " "))
