"""Manages the tables: applies changes to their stores, and shows complete ones on the hub.

The manifest says which changelog belongs to each table name. The hub shows that changelog's
store as soon as it is completely loaded; until then it keeps showing the previous one.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence

import msgspec
import pyarrow as pa

from evergrid.changelog.feed import FeedUpdate, Followed, Key
from evergrid.changelog.manifest import HEARTBEAT_KEY, OLD_SECONDS, Gap
from evergrid.changelog.unreadable_records import unreadable_text
from evergrid.gateway.engine.changelog_follower import NO_UPDATE, Segment
from evergrid.gateway.engine.engine_delay import EngineDelay
from evergrid.gateway.engine.gap_text import gap_log_line, gap_warning
from evergrid.gateway.engine.hub import Hub
from evergrid.gateway.engine.loaded_table import ChangeRate, LoadedTable
from evergrid.gateway.engine.retention_clock import RetentionClock
from evergrid.gateway.engine.table_engine import (
    PipelineInfo,
    TableInfo,
    not_switched,
    pipeline_info,
    until_back,
)
from evergrid.gateway.engine.trace import trace_rows
from evergrid.gateway.engine.window_states import no_such_table
from evergrid.model.generation import State
from evergrid.protocol.messages import Live, WindowState
from evergrid.store.table_store import TableStore

# A pipeline writes a heartbeat every 5 seconds.
_HEARTBEAT_SECONDS = 20.0
# By another machine's clock, so the bound is wide; a running pipeline beats within the grace.
_HEARTBEAT_AGE_SECONDS = 120.0
_HEARTBEAT_GRACE_SECONDS = 6.0
_LOADING = "Tables are being loaded."


class _Shown(msgspec.Struct, frozen=True):
    """The changelog that is shown under a name, and its generation."""

    key: Key
    generation: int


class TableManager:
    """All stores, and which of them is shown under which name.

    `fresh_at` is when everything was last known to be up to date, in microseconds.
    """

    def __init__(self, hub: Hub, table_bytes: int, delay: EngineDelay | None = None) -> None:
        self._hub = hub
        self._table_bytes = table_bytes
        self._delay = delay or EngineDelay()
        self._loaded: dict[Key, LoadedTable] = {}
        self._shown: dict[str, _Shown] = {}
        self._feed = NO_UPDATE
        self.fresh_at = 0
        self._heartbeat_at = time.monotonic()
        self._logged_gaps: set[tuple[str, str]] = set()  # changelog topic and reason
        self.rows_applied = 0
        self._clock = RetentionClock()
        self.log_lines = self._clock.log_lines

    @property
    def ready(self) -> bool:
        """Whether a generation is current and every table is shown, if only in the previous
        generation's version; then its state says so."""
        is_current = self._feed.manifest.current_generation is not None
        return is_current and self._targets().keys() <= self._shown.keys()

    @property
    def message(self) -> str:
        """What it is waiting for, in a sentence, or that all tables are loaded."""
        if self._feed.down and not self.ready:
            return until_back(self._feed.down)
        manifest = self._feed.manifest
        if manifest.current_generation is None and manifest.unreadable:
            return unreadable_text(manifest.unreadable)
        if self.public_message != _LOADING:
            return self.public_message
        states = [self._state(name) for name in manifest.tables()]
        return _loading(sum(one.done for one in states), sum(one.total for one in states))

    @property
    def public_message(self) -> str:
        """The same for those without a key: no host, no user, no numbers."""
        if self.ready:
            return "All tables are loaded."
        if self._feed.down:
            return "Kafka cannot be read."
        if self._feed.manifest.current_generation is None:
            return "There are no tables yet: waiting for a pipeline."
        return _LOADING

    def update(self, feed: FeedUpdate) -> None:
        """Follow the feed: start loading, show or drop tables, and report their states."""
        if feed.manifest.heartbeat != self._feed.manifest.heartbeat:
            self._heartbeat_at = time.monotonic()
        self._feed = feed
        self._start_loading(feed.followed)
        self._show_complete()
        self._drop_unused()
        self.report_states()

    def report_states(self) -> None:
        """Report the tables' states; they change with time too."""
        if not self._stale_reason():
            self.fresh_at = time.time_ns() // 1000
        tables = self._feed.manifest.tables()
        for name in {*self._shown, *tables, *self._hub.missing_tables()}:
            self._hub.set_state(name, self._state(name))
        self._log_gaps()

    def apply(self, key: Key, segments: Sequence[Segment], unreadable: int = 0) -> None:
        """Apply changes of one changelog to its table, which lacks the unreadable ones."""
        loaded = self._loaded.get(key)
        if loaded is None:
            return
        loaded.unreadable += unreadable
        for segment in segments:
            self._hub.tick += 1
            if isinstance(segment, pa.RecordBatch):
                applied = loaded.store.upsert(segment, self._hub.tick)
                ids = functools.partial(loaded.store.row_ids, applied.changed)
                trace_rows("applied", ids, topic=key.topic, table=key.table.name)
                loaded.changes += segment.num_rows
                loaded.note_times(segment)
                self.rows_applied += segment.num_rows
            else:
                applied = loaded.store.delete(segment)
                loaded.changes += len(segment)
            self._hub.update(loaded.store, applied)
        self._expire(loaded)
        wall = time.time_ns() // 1000
        loaded.lag_seconds = max(0.0, (wall - loaded.newest_message) / 1e6)
        loaded.rate.count(loaded.changes)

    def expire(self) -> None:
        """Drop rows that are older than their table's retention."""
        for loaded in self._loaded.values():
            self._expire(loaded)
            loaded.rate.count(loaded.changes)

    def store(self, name: str) -> TableStore | None:
        shown = self._shown.get(name)
        return None if shown is None else self._loaded[shown.key].store

    def tables(self) -> list[TableInfo]:
        """Every table that the manifest names or the hub shows, by name."""
        names = sorted({*self._shown, *self._feed.manifest.tables()})
        return [self._info(name) for name in names]

    def pipeline(self) -> PipelineInfo:
        """The health of the pipeline that writes the tables."""
        feed = self._feed
        return pipeline_info(feed.manifest, feed.down, self._silent_reason())

    @property
    def manifest_skipped(self) -> Mapping[str, int]:
        """Records of the manifest that cannot be read, by reason."""
        return self._feed.manifest.skipped

    def _expire(self, loaded: LoadedTable) -> None:
        self._hub.tick += 1
        applied = loaded.store.expire(self._clock.now(self._time_of_pipeline()))
        self._hub.update(loaded.store, applied)

    def _time_of_pipeline(self) -> int | None:
        """By its last heartbeat, in microseconds; None if there was none."""
        heartbeat = self._feed.manifest.heartbeat
        passed = time.monotonic() - self._heartbeat_at
        return heartbeat + int(passed * 1e6) if heartbeat else None

    def _targets(self) -> dict[str, Followed]:
        """The changelog that belongs to each table name now."""
        tables = self._feed.manifest.tables()
        return {
            followed.target.table.name: followed
            for followed in self._feed.followed
            if tables.get(followed.target.table.name, followed.target).topic == followed.key.topic
            and followed.target.table.name in tables
        }

    def _start_loading(self, followed: Sequence[Followed]) -> None:
        for one in followed:
            if one.key not in self._loaded:
                store = TableStore(one.target.table, max_bytes=self._table_bytes)
                self._loaded[one.key] = LoadedTable(store, ChangeRate())

    def _show_complete(self) -> None:
        """Show what is complete. A table that generations share is shown already: it gets the
        current generation's number when it has all that this generation had at `ready`."""
        for name, followed in self._targets().items():
            reached = self._feed.reached.get(followed.key)
            shown = _Shown(followed.key, followed.generation)
            if self._shown.get(name) != shown and reached and reached.complete:
                self._shown[name] = shown
                self._hub.show_table(name, self._loaded[followed.key].store, followed.generation)

    def _drop_unused(self) -> None:
        """Drop tables that the manifest no longer names, and stores neither shown nor followed."""
        feed = self._feed
        if not feed.down:
            for name in self._shown.keys() - feed.manifest.tables().keys():
                del self._shown[name]
                self._hub.remove_table(name)
                self._hub.set_state(name, no_such_table(name))
        needed = {shown.key for shown in self._shown.values()}
        needed |= {followed.key for followed in feed.followed}
        for key in self._loaded.keys() - needed:
            del self._loaded[key]

    def _state(self, name: str) -> WindowState:
        feed = self._feed
        if name in self._shown:
            state = self._freshness(name)
            sentences = (state.message, gap_warning(self._gaps(name)))
            return msgspec.structs.replace(state, message=" ".join(filter(None, sentences)))
        if name not in feed.manifest.tables():
            down = WindowState(Live.WAITING, until_back(feed.down))
            return down if feed.down else no_such_table(name)
        target = self._targets().get(name)
        reached = feed.reached.get(target.key) if target else None
        if reached is None:
            return WindowState(Live.LOADING, feed.down or "The table is about to be loaded.")
        text = feed.down or _loading(reached.done, reached.total)
        return WindowState(Live.LOADING, text, done=reached.done, total=reached.total)

    def _freshness(self, name: str) -> WindowState:
        """The state of a table that is shown: live, or stale for one of three reasons."""
        if reason := self._stale_reason():
            return WindowState(Live.STALE, until_back(reason), self.fresh_at)
        manifest = self._feed.manifest
        if manifest.behind.covers(name) and name not in manifest.system:
            return WindowState(Live.STALE, manifest.behind.why, manifest.behind.since)
        return self._outdated(name) or WindowState(Live.LIVE, "")

    def _gaps(self, name: str) -> tuple[Gap, ...]:
        """What the table that is shown under this name lacks: messages that the join left out,
        and changes that this gateway does not have."""
        shown = self._shown.get(name)
        if shown is None:
            return ()
        of_join = self._feed.manifest.gaps.topics.get(shown.key.topic, ())
        lost = self._feed.lost.get(shown.key, {})
        return of_join + self._loaded[shown.key].gaps(lost)

    def _log_gaps(self) -> None:
        """Log each reason once per changelog, not once per message."""
        gaps = {
            (shown.key.topic, gap.reason): (name, gap)
            for name, shown in self._shown.items()
            for gap in self._gaps(name)
        }
        for name, gap in (gaps[one] for one in gaps.keys() - self._logged_gaps):
            self.log_lines.append(gap_log_line(name, self._join_of(name), gap))
        self._logged_gaps = set(gaps)

    def _join_of(self, name: str) -> str:
        generation = self._feed.manifest.generations.get(self._shown[name].generation)
        joins = generation.joins.values() if generation else ()
        return next((join.name for join in joins if join.table == name), "<name>")

    def _outdated(self, name: str) -> WindowState | None:
        """The state of a previous generation's table while the current one's is loaded, or None.

        The previous one is no longer written; or both generations share it, and it lacks what
        the current one had at `ready`.
        """
        manifest = self._feed.manifest
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
        return WindowState(Live.STALE, f"Generation {current.number} is being loaded.", since)

    def _stale_reason(self) -> str:
        """Why all tables may be stale, in a sentence; empty when they are fresh."""
        feed = self._feed
        reason = self._silent_reason() or not_switched(feed.manifest)
        unreadable = unreadable_text(feed.manifest.unreadable) if reason else ""
        return feed.down or " ".join(filter(None, (reason, unreadable)))

    def _silent_reason(self) -> str:
        """Why the pipeline seems not to run; empty if its heartbeat comes."""
        manifest = self._feed.manifest
        heartbeat = manifest.heartbeat
        # A heartbeat may wait behind changes that were read before it.
        silent = time.monotonic() - self._heartbeat_at - self._delay.seconds
        age = time.time() - heartbeat / 1e6
        is_old = age > _HEARTBEAT_AGE_SECONDS and silent > _HEARTBEAT_GRACE_SECONDS
        if not heartbeat or not (silent > _HEARTBEAT_SECONDS or is_old):
            return ""  # without one, whatever wrote this manifest has no heartbeat
        if HEARTBEAT_KEY in manifest.unreadable:
            return "The pipeline's heartbeat cannot be read."
        return "The pipeline does not run."

    def _info(self, name: str) -> TableInfo:
        state = self._state(name)
        shown = self._shown.get(name)
        if shown is None and (target := self._targets().get(name)):
            shown = _Shown(target.key, target.generation)
        loaded = self._loaded.get(shown.key) if shown else None
        table = self._feed.manifest.tables().get(name)
        schema = loaded.store.table if loaded else table.table if table else None
        return TableInfo(
            name=name,
            state=state.state,
            message=state.message,
            columns=schema.columns if schema else (),
            generation=shown.generation if shown and loaded else 0,
            rows=len(loaded.store) if loaded else 0,
            bytes=loaded.store.nbytes if loaded else 0,
            max_rows=(schema.retention.rows or 0) if schema else 0,
            max_bytes=self._table_bytes,
            changes=loaded.changes if loaded else 0,
            changes_per_second=loaded.rate.per_second if loaded else 0.0,
            newest=loaded.store.newest if loaded else 0,
            lag_seconds=loaded.lag_seconds if loaded else 0.0,
            since=state.since,
            views=self._hub.view_count(name),
            done=state.done,
            total=state.total,
            gaps=self._gaps(name),
        )


def _loading(done: int, total: int) -> str:
    return f"Loading: {done:,} of {total:,} changes."
