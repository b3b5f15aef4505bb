"""A few minutes of the demo's bank, in a gateway without Kafka, the same every time.

The rows are worked out by the oracle from the demo's own messages, so they are what a pipeline
would make of them: late users, accounts of nobody and bad messages included.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
import yaml
from tests.support.local_engine import LocalEngine
from tests.support.local_gateway import LocalGateway
from tests.support.local_pipeline import LocalPipeline

from evergrid.config import load
from evergrid.demo.sample_events import events
from evergrid.gateway.engine.table_engine import TableInfo
from evergrid.model.control_request import Verdict
from evergrid.model.field_types import TEXT
from evergrid.model.generation import Progress, State, Times
from evergrid.model.table import Column
from evergrid.testing import oracle

START_MS = 1_770_109_200_000  # 2026-02-03 09:00 in UTC
KEY_NAME = "demo"
SECONDS = 360  # of the whole story
GENERATION = 3
_RATE = 25.0
_SEED = 7
_INSTANCE = "5e1f0a7c2b94d638"
_RECENT_SECONDS = 5
_MINUTE = 60 * 1_000_000

_SETTINGS = load(None, {})
_TABLES = (*_SETTINGS.raw_tables(), *_SETTINGS.joined_tables(), _SETTINGS.quarantine())

Rows = Sequence[Mapping[str, oracle.Value]]


class Bank:
    """Lets rows come into the tables as their times pass."""

    def __init__(self, gateway: LocalGateway, engine: BankEngine, second: int) -> None:
        self.gateway = gateway
        self._engine = engine
        self._second = second
        for table in _TABLES:
            number = 0 if table == _SETTINGS.quarantine() else GENERATION
            gateway.place(table, self._between(table.name, 0, second), number)
        self._pipeline = LocalPipeline(gateway, _SETTINGS)
        _tell_past(self._pipeline)
        self._tell()

    @property
    def key(self) -> str:
        return self.gateway.secrets[KEY_NAME]

    @property
    def now(self) -> int:
        """Seconds since 1970, by the story's clock."""
        return START_MS // 1000 + self._second

    def pass_second(self) -> None:
        self._second += 1
        for table in _TABLES:
            if rows := self._between(table.name, self._second - 1, self._second):
                self.gateway.upsert(table.name, rows)
        self._tell()

    def book(self) -> None:
        """Money moves on some of the newest joined rows, which change and stay where they are."""
        (joined,) = _SETTINGS.joined_tables()
        rows = self._between(joined.name, 0, self._second)[-9::2]
        changed = [{**row, "balance": f"{float(str(row['balance'])) - 12.5:.2f}"} for row in rows]
        self.gateway.upsert(joined.name, changed)

    def prepare(self, offset: int) -> None:
        """What was just asked for is on its way."""
        now = self.now * 1_000_000
        self._pipeline.judge(
            offset, _OTHER, Verdict.PREPARING, generation=4, by=f"key {KEY_NAME}", asked_at=now
        )
        step = Progress("writing the past of final_ui", 4_213, 9_870)
        self._pipeline.put(4, State.PREPARING, _OTHER, progress=step, times=Times(created=now))

    def lose_email(self) -> None:
        """Another pipeline, whose users have a country and no email."""
        (joined,) = _SETTINGS.joined_tables()
        columns = [column for column in joined.columns if column.name != "email"]
        columns.insert(2, Column("country", TEXT))
        rows = [
            {**{name: row[name] for name in row if name != "email"}, "country": country}
            for row, country in zip(
                self._between(joined.name, 0, self._second), itertools.cycle(_COUNTRIES)
            )
        ]
        self.gateway.place(msgspec.structs.replace(joined, columns=tuple(columns)), rows, 4)

    def _between(self, table: str, after: int, second: int) -> Rows:
        """Rows of these seconds; those that were late at the beginning are of the first one."""
        begin, end = ((START_MS + moment * 1000) * 1000 for moment in (after, second))
        return [
            row for row in _story()[table] if (not after or _ts(row) > begin) and _ts(row) <= end
        ]

    def _tell(self) -> None:
        recent = max(0, self._second - _RECENT_SECONDS)
        rates = {t.name: len(self._between(t.name, recent, self._second)) for t in _TABLES}
        lag = 0.041 + 0.012 * math.sin(self._second / 4) + 0.006 * math.sin(self._second * 1.7)
        self._engine.rates = {name: count / _RECENT_SECONDS for name, count in rates.items()}
        self._engine.lag_seconds = lag
        self._engine.manifest = msgspec.structs.replace(
            self._engine.manifest, current=GENERATION, heartbeat=self.now * 1_000_000
        )


class BankEngine(LocalEngine):
    """Tells of the rates and delays that the story has, and is always the same instance."""

    rates: Mapping[str, float] = {}
    lag_seconds = 0.0

    @property
    def instance(self) -> str:
        return _INSTANCE

    @instance.setter
    def instance(self, _another: str) -> None:
        """Each start of a gateway gives another one, which would be in the pictures."""

    async def tables(self) -> Sequence[TableInfo]:
        return [
            msgspec.structs.replace(
                info,
                changes_per_second=self.rates.get(info.name, 0.0),
                lag_seconds=self.lag_seconds,
            )
            for info in await super().tables()
        ]


@contextmanager
def open_bank(folder: Path, second: int = SECONDS) -> Iterator[Bank]:
    """A gateway with all that has happened until then."""
    gateway = LocalGateway(folder)
    gateway.engine = engine = BankEngine(gateway.settings.limits)
    gateway.new_key(KEY_NAME, control=True)
    with gateway:
        yield Bank(gateway, engine, second)


@cache
def _story() -> Mapping[str, Rows]:
    """The rows of each table, in the order of their times."""
    config = yaml.safe_load(files("evergrid.config").joinpath("default.yaml").read_text())
    spec = oracle.from_config({name: config[name] for name in ("sources", "joins")})
    messages = list(_messages())
    tables = {s.table: oracle.raw(messages, s) for s in spec.sources.values()}
    for join in spec.joins.values():
        tables[join.table] = oracle.join(messages, join, spec.sources)
    tables[_SETTINGS.quarantine().name] = oracle.quarantine(messages, spec.sources)
    return {name: sorted(table.values(), key=_ts) for name, table in tables.items()}


def _messages() -> Iterator[oracle.Message]:
    offsets: Counter[tuple[str, int]] = Counter()
    within = itertools.takewhile(lambda e: e.due < SECONDS, events(_SEED, START_MS, _RATE))
    for event in within:
        partition = sum(event.key) % 2
        offset = offsets[event.source, partition]
        offsets[event.source, partition] += 1
        place = (event.source, partition, offset, event.timestamp_ms)
        yield oracle.Message(*place, event.key, event.value)


# What was asked for before the story begins: who, what, its verdict, and minutes until then.
_OTHER = {"usersTopic": "users_v2", "joinType": "asof"}
_PAST: Sequence[tuple[str, Mapping[str, str] | str, Verdict, str, int | None, int]] = (
    ("key operations", _OTHER, Verdict.APPLIED, "", 2, 12),
    (
        "mei@console",
        "usersTopic = users_v2",
        Verdict.INVALID,
        "It is not valid JSON.",
        None,
        4,
    ),
    ("key operations", {"usersTopic": "users", "joinType": "left"}, Verdict.APPLIED, "", 3, 0),
)
_COUNTRIES = ("Japan", "Norway", "Peru", "Kenya", "Portugal")


def _tell_past(pipeline: LocalPipeline) -> None:
    """Three generations: one is gone, one was replaced and is kept, one runs."""
    began = START_MS * 1000
    for offset, (by, asked, verdict, reason, generation, minutes) in enumerate(_PAST):
        at = began - minutes * _MINUTE
        decided = at + 9_400_000 if generation else at + 20_000
        pipeline.judge(
            offset,
            asked,
            verdict,
            reason=reason,
            generation=generation,
            by=by,
            partition=1,  # not where messages of the pictures go
            asked_at=at,
            decided=decided,
        )
    long_ago, before = began - 90 * _MINUTE, began - 12 * _MINUTE
    first = Times(created=long_ago, ready=long_ago, current=long_ago, ended=before)
    second = Times(created=before, ready=before, current=before, ended=began + 9_400_000)
    third = Times(created=began, ready=began + 9_000_000, current=began + 9_400_000)
    pipeline.put(1, State.RETIRING, rows=48_210, times=first)
    pipeline.forget(1)
    pipeline.put(2, State.RETIRING, _OTHER, rows=9_631, times=second)
    pipeline.put(GENERATION, State.CURRENT, rows=9_870, times=third)


def _ts(row: Mapping[str, oracle.Value]) -> int:
    ts = row["ts"]
    assert isinstance(ts, int)
    return ts
