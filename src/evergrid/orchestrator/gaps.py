"""What joined tables may lack, as the joins report it: in the log, and for gateways to show."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import msgspec

from evergrid.changelog.join_reports import LeftOut, ReportReader
from evergrid.changelog.manifest import MAX_GAP_KEYS, Gap, Gaps
from evergrid.model.generation import Generation
from evergrid.orchestrator.generations import now
from evergrid.orchestrator.registry import Registry

_WRITE_SECONDS = 5.0  # every viewer gets what is written


class GapRecorder:
    """Adds up what the joins' reports say was left out, and writes it to the manifest."""

    def __init__(
        self, registry: Registry, reports: ReportReader, say: Callable[[str], None]
    ) -> None:
        self._registry = registry
        self._reports = reports
        self._say = say
        self._topics = {
            topic: {gap.reason: gap for gap in gaps}
            for topic, gaps in registry.manifest.gaps.topics.items()
        }
        self._write_at = 0.0

    def turn(self) -> None:
        """Take the reports that have come; say what is new."""
        for query, reason, left_out in self._reports.take_left_out():
            self._add(query, reason, left_out)
        if time.monotonic() >= self._write_at:
            self._write_at = time.monotonic() + _WRITE_SECONDS
            self._registry.tell_gaps(self._gaps())

    def _add(self, query: str, reason: str, left_out: LeftOut) -> None:
        found = _table_of(query, self._registry.manifest.generations)
        if found is None:
            return  # its generation is gone
        table, topic = found
        gaps = self._topics.setdefault(topic, {})
        known = gaps.get(reason)
        if known is None:
            keys = ", ".join(left_out.keys[:3])
            self._say(
                f"Table {table} may lack rows or show older matches for some keys ({keys}, ...): "
                f"{reason} limit."
            )
        gaps[reason] = added(known, reason, left_out)

    def _gaps(self) -> Gaps:
        """Of changelogs that a generation still has."""
        alive = {
            table.topic
            for one in self._registry.manifest.generations.values()
            for table in one.tables.values()
        }
        self._topics = {topic: gaps for topic, gaps in self._topics.items() if topic in alive}
        return Gaps({topic: tuple(gaps.values()) for topic, gaps in self._topics.items()})


def added(known: Gap | None, reason: str, left_out: LeftOut) -> Gap:
    """A gap after one more report; the newest keys are kept, and come first."""
    before = known or Gap(reason, 0, (), now())
    older = [key for key in before.keys if key not in left_out.keys]
    return msgspec.structs.replace(
        before,
        messages=before.messages + left_out.messages,
        keys=(*left_out.keys, *older)[:MAX_GAP_KEYS],
    )


def _table_of(query: str, generations: Mapping[int, Generation]) -> tuple[str, str] | None:
    """The table that a join of a generation writes, and its changelog: `g3.join-final`."""
    number, _, name = query.removeprefix("g").partition(".join-")
    generation = generations.get(int(number)) if number.isdecimal() else None
    if generation is None or name not in generation.joins:
        return None
    table = generation.joins[name].table
    return table, generation.tables[table].topic
