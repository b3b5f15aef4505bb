"""All that is real behind a page, and what the page must paint of it."""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from evergrid.client.filters import query_of
from evergrid.config import load
from evergrid.model.field_types import ColumnKind, FieldType
from evergrid.model.table import Role, Table
from evergrid.testing import oracle
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import START_MS, Script, Send, random_case
from evergrid.views.view_query import Window
from tests.browser.reader import NUMBER
from tests.support.fault_proxy import FaultProxy
from tests.support.reference_viewer import WindowOptions
from tests.system.gateways import GatewayProcess
from tests.system.judging import model_of


@dataclass(frozen=True)
class Stage:
    """All that is real, the way that the browser takes to it, and what must be shown."""

    world: Installation
    gateway: GatewayProcess
    way: FaultProxy
    rng: random.Random

    def send_case(self, name: str) -> None:
        """A random conversation between users and accounts, bad messages among it."""
        spec = self.world.spec
        script = Script(partitions=2)
        self.world.send(
            random_case(self.rng, spec.joins["final"], spec.sources, f"{name}-", script)
        )

    def send(self, source: str, **fields: object) -> None:
        """One message, newer than all of random cases."""
        value = json.dumps(fields).encode()
        topic = self.world.spec.sources[source].topic
        later = START_MS + 60_000 + len(self.world.messages)
        self.world.send([Send(topic, 0, later, str(fields["userId"]).encode(), value)])

    def painted(self, name: str, view: WindowOptions) -> list[Mapping[str, str]]:
        """The lines of a view as the page must write them: what the oracle says, for people."""
        tables = load(self.world.file, {})
        known = (*tables.raw_tables(), *tables.joined_tables(), tables.quarantine())
        table = next(table for table in known if table.name == name)
        return painted(table, self.world.expected(name), view)


def painted(table: Table, expected: oracle.Table, view: WindowOptions) -> list[Mapping[str, str]]:
    """The lines of a view of a table with these rows."""
    model = model_of(table, expected)
    where, order = view.get("where"), view.get("order")
    query = query_of(table.name, None, where, view.get("search", ""), order)
    start, rows = model.window(query, Window(view.get("offset", 0), view.get("limit", 300)))
    shown = [column for column in table.columns if column.role is not Role.TRACE]
    return [
        {NUMBER: f"{number:,}"}
        | {column.name: _written(row[column.name], column.type) for column in shown}
        for number, row in enumerate(rows, start + 1)
    ]


def _written(value: object, kind: FieldType) -> str:
    """A value in American English and UTC, which the browsers here are set to."""
    if value is None:
        return "–"
    if kind.kind is ColumnKind.TIMESTAMP:
        assert isinstance(value, int)
        moment = datetime.datetime.fromtimestamp(value // 1000 / 1000, datetime.UTC)
        this_year = moment.year == datetime.datetime.now(datetime.UTC).year
        day = moment.strftime("%b %d" if this_year else "%b %d, %Y")
        return f"{day}, {moment:%H:%M:%S}.{value // 1000 % 1000:03}"
    return f"{value:,}" if isinstance(value, int | Decimal) else str(value)
