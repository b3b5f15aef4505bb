"""What a feed of all tables gives, as changes of the tables that have a name now. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evergrid.changelog.codec import Change, decode
from evergrid.changelog.feed import Arrivals, Followed, Key, News
from evergrid.model.generation import Generation
from evergrid.model.table import Table


class Arrival(msgspec.Struct, frozen=True):
    """A change of a table; `live` unless it was there before we came."""

    table: str
    change: Change
    written_ms: int
    live: bool


class Moved(msgspec.Struct, frozen=True):
    """A table begins anew; tables of no generation have none."""

    table: Table
    generation: Generation | None


class Batch(msgspec.Struct, frozen=True):
    """Tables that moved, then changes, and what a person should know."""

    moved: Sequence[Moved] = ()
    arrivals: Sequence[Arrival] = ()
    trouble: str = ""


class Sorter:
    """Keeps back what a coming generation's tables have, until they are the current ones."""

    def __init__(self) -> None:
        self._shown: dict[str, Key] = {}
        self._kept: dict[Key, list[Arrival]] = {}
        self._names: dict[Key, str] = {}
        self._complete: set[Key] = set()

    def sort(self, news: News) -> Batch:
        for followed in news.followed:
            self._names[followed.key] = followed.target.table.name
        for arrivals in news.arrivals:
            self._kept.setdefault(arrivals.key, []).extend(self._read(arrivals))
        self._complete = {key for key, reached in news.reached.items() if reached.complete}
        moved = [self._show(one, news) for one in news.followed if self._is_new(one, news)]
        shown = [key for key in self._kept if key in self._shown.values()]
        arrived = [arrival for key in shown for arrival in self._kept.pop(key)]
        trouble = f"{news.down} Going on when it is back." if news.down else ""
        return Batch(moved, arrived, trouble)

    def _read(self, arrivals: Arrivals) -> list[Arrival]:
        name = self._names.get(arrivals.key, "")
        live = arrivals.key in self._complete
        return [
            Arrival(name, decode(record.key, record.value), record.timestamp_ms, live)
            for record in arrivals.records
        ]

    def _is_new(self, followed: Followed, news: News) -> bool:
        name = followed.target.table.name
        named = news.manifest.tables().get(name)
        is_current = named is not None and named.topic == followed.key.topic
        return is_current and self._shown.get(name) != followed.key

    def _show(self, followed: Followed, news: News) -> Moved:
        name = followed.target.table.name
        if name in self._shown:
            self._kept.pop(self._shown[name], None)
        self._shown[name] = followed.key
        return Moved(followed.target.table, news.manifest.generations.get(followed.generation))
