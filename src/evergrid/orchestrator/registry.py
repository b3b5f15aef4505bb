"""The manifest as this pipeline writes it: on the broker first, then in memory.

Before each generation's record goes its row of `orchestrator_status`: what fails or is killed
between the two is done again by the record, and the row with it. The main thread and one that
prepares a generation both write here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import msgspec

from evergrid.changelog.codec import Row
from evergrid.changelog.join_reports import LeftOut, ReportReader
from evergrid.changelog.manifest import (
    MAX_GAP_KEYS,
    Choices,
    Current,
    Gap,
    Gaps,
    LastNumber,
    Manifest,
    ManifestRecord,
    RequestedChanges,
    updated,
    without,
)
from evergrid.changelog.unreadable_records import unreadable_log_line
from evergrid.changelog.writer import ManifestWriter, TableWriter
from evergrid.config.settings import Settings
from evergrid.model.control_request import topic_words, type_words
from evergrid.model.generation import Generation, Progress, State
from evergrid.orchestrator import generations

_WRITE_GAPS_SECONDS = 5.0  # every viewer gets what is written


class Registry:
    """Knows every generation that is not gone."""

    def __init__(
        self, settings: Settings, manifest: Manifest, writer: ManifestWriter, status: TableWriter
    ) -> None:
        self._settings = settings
        self.manifest = manifest
        self._writer = writer
        self._status = status
        self._rows: dict[int, int] = {}
        self._lock = threading.RLock()
        # Held while a generation begins, which may share tables of another, and while tables are
        # removed: so no table is removed that somebody has just begun to share.
        self.sharing = threading.Lock()

    def prove_ownership(self) -> None:
        """Before topics are deleted: the broker takes this record from the owner alone."""
        with self._lock:
            if self.manifest.owner is not None:
                self._write(self.manifest.owner)

    def take_number(self) -> int:
        """The number of a new generation, never used before."""
        with self._lock:
            known = self.manifest
            named = (known.current or 0, known.unknown_current or 0)
            number = max(*known.generations, *named, known.highest, known.last_unreadable) + 1
            self._write(LastNumber(number))
            return number

    def put(self, generation: Generation) -> None:
        """Say how a generation is."""
        with self._lock:
            self._show(generation)
            self._write(generation)

    def make_current(self, generation: Generation) -> None:
        """The one record that is the switch."""
        with self._lock:
            self._write(Current(generation.number))

    def forget(self, generation: Generation) -> None:
        """Say that nothing is left of a generation; a failed one's error stays to be read."""
        gone = generation
        if generation.state is not State.FAILED:
            gone = generations.ended(generation, State.GONE, generation.error)
        with self._lock:
            self._show(gone)
            self._writer.forget(generation.number)
            self.manifest = without(self.manifest, generation.number)
            self._rows.pop(generation.number, None)

    def count(self, generation: Generation, rows: int) -> None:
        """Say how many rows its joined tables have got."""
        with self._lock:
            if self._rows.get(generation.number) != rows:
                self._status.put(status_row(self._settings, generation, rows))
                self._rows[generation.number] = rows

    def tell(self, record: Choices | RequestedChanges | Gaps) -> None:
        """Say what the manifest does not say yet."""
        with self._lock:
            if updated(self.manifest, record) != self.manifest:
                self._write(record)

    def _write(self, record: ManifestRecord) -> None:
        self._writer.write(record)
        self.manifest = updated(self.manifest, record)

    def _show(self, generation: Generation) -> None:
        rows = self._rows.get(generation.number)
        self._status.put(status_row(self._settings, generation, rows))


def without_unreadable(manifest: Manifest, say: Callable[[str], None]) -> Manifest:
    """The manifest to start from; reports the records that cannot be read.

    If the record of the current generation is one of them, nothing is current: the generation
    before it is no longer written, and gateways that can read the record do not show it.
    """
    for key, record in manifest.unreadable.items():
        say(unreadable_log_line(key, record, "pipeline"))
    if manifest.last_unreadable:
        say(
            f"Topics and checkpoints of generations up to {manifest.last_unreadable} are kept as "
            "long as there are records of generations that cannot be read."
        )
    is_unknown = manifest.unknown_current is not None
    return msgspec.structs.replace(manifest, current=None) if is_unknown else manifest


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
            self._write_at = time.monotonic() + _WRITE_GAPS_SECONDS
            self._registry.tell(self._gaps())

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
    before = known or Gap(reason, 0, (), generations.now())
    older = [key for key in before.keys if key not in left_out.keys]
    return msgspec.structs.replace(
        before,
        messages=before.messages + left_out.messages,
        keys=(*left_out.keys, *older)[:MAX_GAP_KEYS],
    )


def _table_of(query: str, known: Mapping[int, Generation]) -> tuple[str, str] | None:
    """The table that a join of a generation writes, and its changelog: `g3.join-final`."""
    number, _, name = query.removeprefix("g").partition(".join-")
    generation = known.get(int(number)) if number.isdecimal() else None
    if generation is None or name not in generation.joins:
        return None
    table = generation.joins[name].table
    return table, generation.tables[table].topic


def status_row(settings: Settings, generation: Generation, rows: int | None) -> Row:
    """What it is made of, how it is, and since when; `rows` None: not known yet."""
    times = generation.times
    topics = {
        word: generation.sources[name].topic if name in generation.sources else None
        for name, word in topic_words(settings.sources).items()
    }
    types = {
        word: generation.joins[name].type.value if name in generation.joins else None
        for name, word in type_words(settings.joins).items()
    }
    progress = generation.progress
    return {
        "generation": generation.number,
        "state": generation.state.value,
        **topics,
        **types,
        "rows": rows,
        "progress": progress_text(progress) if progress else None,
        "lastApplied": times.current or None,
        "lastError": generation.error or None,
        "changed": max(times.created, times.ready, times.current, times.ended),
        "ts": times.created,
    }


def progress_text(progress: Progress) -> str:
    """One line for a person: what, how many of how many, and the share."""
    if not progress.total:
        return f"{progress.step}: nothing there yet"
    share = 100 * progress.done // progress.total
    return f"{progress.step}: {progress.done:,} of {progress.total:,} rows ({share}%)"
