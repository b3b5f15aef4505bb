"""What windows and snapshots must show, as the oracle says."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from evergrid.client import LiveWindow
from evergrid.client.filters import query_of
from evergrid.config import load
from evergrid.config.settings import requested_settings
from evergrid.model.control_request import Request
from evergrid.model.field_types import ColumnKind
from evergrid.model.table import Table
from evergrid.testing import oracle
from evergrid.testing.installation import Installation
from evergrid.views.view_query import Window
from tests.support.naive_table import NaiveTable
from tests.support.reference_viewer import Viewer, WindowOptions, plain
from tests.system.conftest import PATIENCE


class Judge:
    """What the oracle says that windows and snapshots must show."""

    def __init__(self, world: Installation) -> None:
        self._world = world
        self._known: dict[str, tuple[int, oracle.Table]] = {}
        self.tables: dict[str, Table] = {}
        self.turn_to(Request())

    def turn_to(self, request: Request) -> None:
        """From now on, what control messages have asked for is right."""
        settings = requested_settings(load(self._world.file, {}), request)
        tables = (*settings.raw_tables(), *settings.joined_tables(), settings.quarantine())
        self.tables = {table.name: table for table in tables}
        self._known.clear()

    def of_table(self, name: str, rows: pa.Table) -> str:
        """How a whole table differs, in its order too."""
        return self.of_rows(name, rows, {"limit": 10**9})

    def of_window(self, name: str, window: LiveWindow, view: WindowOptions) -> str:
        """How a window differs; whether it is live comes first."""
        if not window.live or not window.sequence:
            return f"{window.state.value}: {window.message}"
        return self.of_rows(name, window.rows, view)

    def of_rows(self, name: str, rows: pa.Table, view: WindowOptions) -> str:
        """How the rows of a view differ, in their order too."""
        everything = self._expected(name)
        wanted = _ids(self.tables[name], everything, view)
        shown = {str(row.pop("_id")): row for row in plain(rows)}
        report = oracle.differences({row_id: everything[row_id] for row_id in wanted}, dict(shown))
        return report or ("" if list(shown) == wanted else "the rows are in another order")

    def wait_until_shown(self, viewer: Viewer, table: str, view: WindowOptions) -> None:
        """Return when a viewer sees what the oracle says."""
        differences = ""

        def is_right(window: LiveWindow) -> bool:
            nonlocal differences
            differences = self.of_window(table, window, view)
            return not differences

        try:
            viewer.wait_for(is_right, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{differences}") from None

    def _expected(self, name: str) -> oracle.Table:
        """Asked for many times while a window is waited for, worked out once."""
        count = len(self._world.messages)
        if self._known.get(name, (0, {}))[0] != count:
            self._known[name] = (count, self._world.expected(name))
        return self._known[name][1]


def model_of(table: Table, rows: oracle.Table) -> NaiveTable:
    """The oracle's rows in a table that can be asked for windows."""
    decimals = {column.name for column in table.columns if column.type.kind is ColumnKind.DECIMAL}
    model = NaiveTable(table)
    model.rows = {
        row_id: {
            name: Decimal(str(value)) if name in decimals and value is not None else value
            for name, value in row.items()
        }
        for row_id, row in rows.items()
    }
    return model


def _ids(table: Table, rows: oracle.Table, view: WindowOptions) -> list[str]:
    """The ids that a window must show, from top to bottom."""
    model = model_of(table, rows)
    order, where = view.get("order"), view.get("where")
    query = query_of(table.name, None, where, view.get("search", ""), order)
    _, chosen = model.window(query, Window(view.get("offset", 0), view.get("limit", 300)))
    return [model.row_id(row) for row in chosen]
