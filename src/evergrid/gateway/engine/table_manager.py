"""Keeps the tables: changes in, stores up to date, and on the hub what is complete.

Names belong to the manifest: under each one the hub shows the store of the changelog that
the manifest names for it now, as soon as that store has everything it must have. Until
then it shows what it had.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from evergrid.changelog.feed import Followed, Key, Reached
from evergrid.changelog.manifest import OLD_SECONDS, Gap, Manifest
from evergrid.gateway.engine.change_rate import Rate
from evergrid.gateway.engine.deliveries import TableInfo
from evergrid.gateway.engine.gap_text import gap_log_line, gap_warning
from evergrid.gateway.engine.hub import Condition, Hub, no_such_table
from evergrid.gateway.engine.pipeline_health import PipelineInfo, pipeline_info
from evergrid.model.generation import State
from evergrid.protocol.messages import Live
from evergrid.store.table import TableStore

# A pipeline beats every 5 seconds.
_SILENT_SECONDS = 20.0
_LONG_SECONDS = 120.0
_GRACE_SECONDS = 6.0

# Rows to upsert, or ids to delete, in the order of the changelog.
Segment: TypeAlias = pa.RecordBatch | Sequence[str]


class Situation(msgspec.Struct, frozen=True):
    """How the feed is."""

    followed: Sequence[Followed] = ()
    reached: Mapping[Key, Reached] = {}
    manifest: Manifest = Manifest()
    down: str = ""


class _Kept(msgspec.Struct):
    """One changelog's table."""

    store: TableStore
    rate: Rate
    changes: int = 0
    newest_message: int = 0
    lag_seconds: float = 0.0

    def note_times(self, batch: pa.RecordBatch) -> None:
        """A row of a join is as new as the newest of its messages, whichever gives it its `ts`."""
        for name in self.store.table.times:
            newest = pc.max(batch.column(name)).cast(pa.int64()).as_py()
            self.newest_message = max(self.newest_message, newest or 0)


class _Shown(msgspec.Struct, frozen=True):
    """Which changelog's table is on screens, and as that of which generation."""

    key: Key
    generation: int


class Keeper:
    """All stores, and which of them is shown under which name."""

    def __init__(self, hub: Hub, table_bytes: int) -> None:
        self._hub = hub
        self._table_bytes = table_bytes
        self._kept: dict[Key, _Kept] = {}
        self._shown: dict[str, _Shown] = {}
        self._situation = Situation()
        self._fresh_at = 0
        self._pulse_at = time.monotonic()
        self._logged_gaps: set[tuple[str, str]] = set()  # changelog topic and reason
        self.rows_applied = 0
        self.notices: list[str] = []  # for the log of whoever runs this

    @property
    def ready(self) -> bool:
        """Whether a generation is current, and every table is shown; while that is loaded, of the
        one before, whose age is told where it is shown."""
        is_current = self._situation.manifest.current_generation is not None
        return is_current and self._targets().keys() <= self._shown.keys()

    @property
    def message(self) -> str:
        """What it is waiting for, in a sentence, or that it has everything."""
        if self.ready:
            return "All tables are loaded."
        if self._situation.down:
            return f"{self._situation.down} Going on when it is back."
        if self._situation.manifest.current_generation is None:
            return "There are no tables yet: waiting for a pipeline."
        conditions = [self._condition(name) for name in self._situation.manifest.tables()]
        done, total = sum(c.done for c in conditions), sum(c.total for c in conditions)
        return f"Loading: {done:,} of {total:,} changes."

    @property
    def fresh_at(self) -> int:
        """When everything was last known to be up to date."""
        return self._fresh_at

    def turn(self, situation: Situation) -> None:
        """Act on how the feed is: begin, show, or give up tables, and say how they are."""
        if situation.manifest.pulse != self._situation.manifest.pulse:
            self._pulse_at = time.monotonic()
        self._situation = situation
        self._begin(situation.followed)
        self._show()
        self._give_up()
        self.look()

    def look(self) -> None:
        """Say how the tables are, also when nothing has come."""
        if not self._trouble():
            self._fresh_at = time.time_ns() // 1000
        tables = self._situation.manifest.tables()
        for name in {*self._shown, *tables, *self._hub.awaited()}:
            self._hub.condition(name, self._condition(name))
        self._log_gaps()

    def apply(self, key: Key, segments: Sequence[Segment]) -> None:
        """Have one table follow its changelog."""
        kept = self._kept.get(key)
        if kept is None:
            return
        for segment in segments:
            self._hub.tick += 1
            if isinstance(segment, pa.RecordBatch):
                applied = kept.store.upsert(segment, self._hub.tick)
                kept.changes += segment.num_rows
                kept.note_times(segment)
                self.rows_applied += segment.num_rows
            else:
                applied = kept.store.delete(segment)
                kept.changes += len(segment)
            self._hub.changed(kept.store, applied)
        self._expire(kept)
        wall = time.time_ns() // 1000
        kept.lag_seconds = max(0.0, (wall - kept.newest_message) / 1e6)
        kept.rate.count(kept.changes)

    def expire(self) -> None:
        """Drop what has become too old."""
        for kept in self._kept.values():
            self._expire(kept)
            kept.rate.count(kept.changes)

    def store(self, name: str) -> TableStore | None:
        shown = self._shown.get(name)
        return None if shown is None else self._kept[shown.key].store

    def tables(self) -> list[TableInfo]:
        """Every table that has a name now."""
        names = sorted({*self._shown, *self._situation.manifest.tables()})
        return [self._info(name) for name in names]

    def pipeline(self) -> PipelineInfo:
        """How the pipeline is that writes the tables."""
        situation = self._situation
        return pipeline_info(situation.manifest, situation.down, self._trouble())

    def _expire(self, kept: _Kept) -> None:
        self._hub.tick += 1
        applied = kept.store.expire(time.time_ns() // 1000)
        self._hub.changed(kept.store, applied)

    def _targets(self) -> dict[str, Followed]:
        """The changelog that each name stands for now."""
        tables = self._situation.manifest.tables()
        return {
            followed.target.table.name: followed
            for followed in self._situation.followed
            if tables.get(followed.target.table.name, followed.target).topic == followed.key.topic
            and followed.target.table.name in tables
        }

    def _begin(self, followed: Sequence[Followed]) -> None:
        for one in followed:
            if one.key not in self._kept:
                store = TableStore(one.target.table, max_bytes=self._table_bytes)
                self._kept[one.key] = _Kept(store, Rate())

    def _show(self) -> None:
        """Show what is complete. A table that generations share is on screens already: it goes on
        under the current number as soon as it has all that this generation had at ready."""
        for name, followed in self._targets().items():
            reached = self._situation.reached.get(followed.key)
            shown = _Shown(followed.key, followed.generation)
            if self._shown.get(name) != shown and reached and reached.complete:
                self._shown[name] = shown
                self._hub.place(name, self._kept[followed.key].store, followed.generation)

    def _give_up(self) -> None:
        """Forget tables that have no name any more, and stores that are neither shown nor read."""
        situation = self._situation
        if not situation.down:
            for name in self._shown.keys() - situation.manifest.tables().keys():
                del self._shown[name]
                self._hub.withdraw(name)
                self._hub.condition(name, no_such_table(name))
        needed = {shown.key for shown in self._shown.values()}
        needed |= {followed.key for followed in situation.followed}
        for key in self._kept.keys() - needed:
            del self._kept[key]

    def _condition(self, name: str) -> Condition:
        situation = self._situation
        if name in self._shown:
            condition = self._freshness(name)
            words = (condition.message, gap_warning(self._gaps(name)))
            return msgspec.structs.replace(condition, message=" ".join(filter(None, words)))
        if name not in situation.manifest.tables():
            down = Condition(Live.WAITING, f"{situation.down} Going on when it is back.")
            return down if situation.down else no_such_table(name)
        target = self._targets().get(name)
        reached = situation.reached.get(target.key) if target else None
        if reached is None:
            return Condition(Live.LOADING, situation.down or "The table is about to be loaded.")
        text = f"Loading: {reached.done:,} of {reached.total:,} changes."
        return Condition(Live.LOADING, situation.down or text, 0, reached.done, reached.total)

    def _freshness(self, name: str) -> Condition:
        """Whether a table that is shown has everything that its pipeline could give it."""
        if trouble := self._trouble():
            return Condition(Live.STALE, f"{trouble} Going on when it is back.", self._fresh_at)
        manifest = self._situation.manifest
        if manifest.behind.covers(name) and name not in manifest.system:
            return Condition(Live.STALE, manifest.behind.why, manifest.behind.since)
        return self._left_behind(name) or Condition(Live.LIVE, "")

    def _gaps(self, name: str) -> tuple[Gap, ...]:
        """What the table that is shown may lack for good: those of its own changelog alone."""
        shown = self._shown.get(name)
        gaps = self._situation.manifest.gaps.topics
        return gaps.get(shown.key.topic, ()) if shown else ()

    def _log_gaps(self) -> None:
        """Each reason once for each changelog, not each message that is left out."""
        manifest = self._situation.manifest
        self._logged_gaps = {one for one in self._logged_gaps if one[0] in manifest.gaps.topics}
        for name, shown in self._shown.items():
            for gap in self._gaps(name):
                if (one := (shown.key.topic, gap.reason)) not in self._logged_gaps:
                    self._logged_gaps.add(one)
                    self.notices.append(gap_log_line(name, self._join_of(name), gap))

    def _join_of(self, name: str) -> str:
        generation = self._situation.manifest.generations.get(self._shown[name].generation)
        joins = generation.joins.values() if generation else ()
        return next((join.name for join in joins if join.table == name), "<name>")

    def _left_behind(self, name: str) -> Condition | None:
        """How a table of an earlier generation is, while the current one's is loaded.

        Nobody may write it any more; or, where both share it, it lacks what the current one had
        at ready.
        """
        manifest = self._situation.manifest
        shown = self._shown[name].generation
        current = manifest.current_generation
        if not shown or current is None or shown == current.number:
            return None
        before = manifest.generations.get(shown)
        since = current.times.current
        if before is not None and before.state is State.FAILED:
            since = before.times.ended
        if time.time_ns() // 1000 - since < OLD_SECONDS * 1e6:
            return None
        return Condition(Live.STALE, f"Generation {current.number} is being loaded.", since)

    def _trouble(self) -> str:
        """Why what is shown may be old, in a sentence; empty when it is fresh."""
        situation = self._situation
        if situation.down:
            return situation.down
        pulse = situation.manifest.pulse
        if not pulse:
            return ""  # written by something that has none
        silent = time.monotonic() - self._pulse_at
        age = time.time() - pulse / 1e6  # by two machines' clocks, so only when it is large
        if silent > _SILENT_SECONDS or (age > _LONG_SECONDS and silent > _GRACE_SECONDS):
            return "The pipeline does not run."
        return ""

    def _info(self, name: str) -> TableInfo:
        condition = self._condition(name)
        shown = self._shown.get(name)
        if shown is None and (target := self._targets().get(name)):
            shown = _Shown(target.key, target.generation)
        kept = self._kept.get(shown.key) if shown else None
        table = self._situation.manifest.tables().get(name)
        schema = kept.store.table if kept else table.table if table else None
        return TableInfo(
            name=name,
            state=condition.state,
            message=condition.message,
            columns=schema.columns if schema else (),
            generation=shown.generation if shown and kept else 0,
            rows=len(kept.store) if kept else 0,
            bytes=kept.store.nbytes if kept else 0,
            max_rows=(schema.retention.rows or 0) if schema else 0,
            max_bytes=self._table_bytes,
            changes=kept.changes if kept else 0,
            changes_per_second=kept.rate.per_second if kept else 0.0,
            newest=kept.store.newest if kept else 0,
            lag_seconds=kept.lag_seconds if kept else 0.0,
            since=condition.since,
            views=self._hub.views_of(name),
            done=condition.done,
            total=condition.total,
            gaps=self._gaps(name),
        )
