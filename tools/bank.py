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

from evergrid.changelog.manifest import Manifest
from evergrid.config import load
from evergrid.demo.events import events
from evergrid.gateway.tables.deliveries import TableInfo
from evergrid.model.generation import Generation, State, TableTopic, Times
from evergrid.testing import oracle
from evergrid.testing.engine import LocalEngine
from evergrid.testing.gateway import LocalGateway

START_MS = 1_770_109_200_000  # 2026-02-03 09:00 in UTC
KEY_NAME = "demo"
SECONDS = 360  # of the whole story
GENERATION = 3
_RATE = 25.0
_SEED = 7
_INSTANCE = "5e1f0a7c2b94d638"
_RECENT_SECONDS = 5

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
        self._engine.manifest = _manifest(self.now * 1_000_000)


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
                info, changes_per_second=self.rates[info.name], lag_seconds=self.lag_seconds
            )
            for info in await super().tables()
        ]


@contextmanager
def open_bank(folder: Path, second: int = SECONDS) -> Iterator[Bank]:
    """A gateway with all that has happened until then."""
    gateway = LocalGateway(folder)
    gateway.engine = engine = BankEngine(gateway.settings.limits.views)
    gateway.new_key(KEY_NAME)
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


def _manifest(now_us: int) -> Manifest:
    tables = {
        table.name: TableTopic(table, f"evergrid.g{GENERATION}.{table.name}", 2)
        for table in _TABLES
        if table != _SETTINGS.quarantine()
    }
    began = START_MS * 1000
    generation = Generation(
        number=GENERATION,
        state=State.CURRENT,
        sources=_SETTINGS.sources,
        joins=_SETTINGS.joins,
        topics={},
        tables=tables,
        times=Times(created=began, ready=began + 9_000_000, current=began + 9_400_000),
    )
    return Manifest({GENERATION: generation}, GENERATION, {}, now_us)


def _ts(row: Mapping[str, oracle.Value]) -> int:
    ts = row["ts"]
    assert isinstance(ts, int)
    return ts
