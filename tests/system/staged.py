"""users_ui on a real broker, written by hand, with a model of what every window must show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evergrid.client.filters import query_of
from evergrid.client.live_window import LiveWindow
from evergrid.config import load
from evergrid.testing.installation import Installation
from evergrid.views.view_query import Window
from tests.handwritten_pipeline import HandwrittenPipeline
from tests.support.naive_table import NaiveTable
from tests.support.reference_viewer import WindowOptions, plain
from tests.system.conftest import two_sources
from tests.system.gateways import gateway_section

TABLE = "users_ui"
TIME = 1_767_225_600_000_000


def config(name: str, port: int, *others: int) -> dict[str, object]:
    """A whole configuration; a view lingers for a second, so that a test can see it go."""
    return {
        "sources": two_sources(name),
        "joins": {"final": {"table": "final_ui", "left": "users", "right": "accounts"}},
        "gateway": gateway_section(port, *others, linger="1s"),
    }


class Stage:
    """What is written to the changelog is in the model too."""

    def __init__(self, world: Installation) -> None:
        self._pipeline = HandwrittenPipeline(load(world.file, {}))
        generation = self._pipeline.prepare(1)
        self._target = generation.tables[TABLE]
        self._model = NaiveTable(self._target.table)
        self._pipeline.switch(generation)
        self._age = 0

    def change(self, numbers: Iterable[int], email: str = "") -> int:
        """Write these people, each older than anybody was before; how old they are now."""
        self._age += 1
        rows = {f"0:{number}": _person(number, self._age, email) for number in numbers}
        self._pipeline.write_all(self._target, rows)
        self._model.upsert(list(rows.values()))
        return self._age

    def expected(self, view: WindowOptions) -> list[Mapping[str, object]]:
        """What a window of `view` must show now."""
        columns, where = view.get("columns"), view.get("where")
        query = query_of(TABLE, columns, where, view.get("search", ""), view.get("order"))
        window = Window(view.get("offset", 0), view.get("limit", 300))
        names = query.columns or [column.name for column in self._target.table.columns]
        _, rows = self._model.window(query, window)
        return [
            {"_id": self._model.row_id(row)} | {name: row[name] for name in names} for row in rows
        ]

    def shows(self, window: LiveWindow, view: WindowOptions) -> bool:
        """Whether the window is live and exactly right."""
        return window.live and window.sequence > 0 and plain(window.rows) == self.expected(view)


def _person(number: int, age: int, email: str) -> dict[str, str | int | None]:
    return {
        "userId": f"u{number}",
        "name": f"{('Ann', 'Bob', 'Cho')[number % 3]} {number}",
        "email": email or None,
        "age": age,
        "ts": TIME + number,
        "_partition": 0,
        "_offset": number,
        "_unknown_fields": 0,
    }


def never_younger(before: LiveWindow, now: LiveWindow) -> str:
    """A row's age only grows: one that is lower is an old state shown after a newer one."""
    if not before.sequence or not now.sequence:
        return ""
    ages = _ages(before)
    back = [row_id for row_id, age in _ages(now).items() if age < ages.get(row_id, 0)]
    return f"rows went back in state {now.sequence}: {back[:5]}" if back else ""


def _ages(window: LiveWindow) -> dict[str, int]:
    rows = window.rows
    return dict(zip(rows["_id"].to_pylist(), rows["age"].to_pylist(), strict=True))
