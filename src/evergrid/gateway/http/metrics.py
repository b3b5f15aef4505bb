"""Metrics in the text format of Prometheus; one is the delay of the event loop."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.table_engine import EngineLoad, TableInfo
from evergrid.model.gap import GapReason
from evergrid.protocol.messages import Live

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
INTERVAL_SECONDS = 0.1
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
RECENT = 600  # a minute

Number = int | float
Sample = tuple[str, Number]  # labels as they are written, value

_OF_TABLES: Mapping[str, tuple[str, Callable[[TableInfo], Number]]] = {
    "table_rows": ("Rows in the table.", lambda t: t.rows),
    "table_bytes": ("Memory that the table uses.", lambda t: t.bytes),
    "table_max_bytes": ("Memory that the table may use.", lambda t: t.max_bytes),
    "table_changes_per_second": (
        "Changes applied per second, over the last seconds.",
        lambda t: t.changes_per_second,
    ),
    "table_lag_seconds": (
        "Age of the newest message when the last change arrived.",
        lambda t: t.lag_seconds,
    ),
    "table_views": ("Views over the table.", lambda t: t.views),
    "table_generation": ("Generation of the table; 0: none.", lambda t: t.generation),
    "table_newest_seconds": (
        "Highest ts of the table, in seconds since the epoch.",
        lambda t: t.newest / 1e6,
    ),
    "table_loaded_changes": ("Changes loaded so far.", lambda t: t.done),
    "table_changes_to_load": ("Changes to load.", lambda t: t.total),
    "table_changes_total": ("Changes applied.", lambda t: t.changes),
}


class LoopDelays:
    """Measured delays: a histogram since the start, and the worst of the last minute."""

    def __init__(self) -> None:
        self.last = 0.0
        self.count = 0
        self.sum = 0.0
        self.buckets = [0] * len(BUCKETS)  # each counts what is at most its bound
        self._recent: deque[float] = deque(maxlen=RECENT)

    @property
    def worst(self) -> float:
        return max(self._recent, default=0.0)

    def add(self, delay: float) -> None:
        self.last = delay
        self.count += 1
        self.sum += delay
        self._recent.append(delay)
        for index, bound in enumerate(BUCKETS):
            if delay <= bound:
                self.buckets[index] += 1

    async def measure(self) -> None:
        """Measure how much longer a sleep takes than asked for; runs until cancelled."""
        while True:
            asked = time.monotonic()
            await asyncio.sleep(INTERVAL_SECONDS)
            self.add(max(0.0, time.monotonic() - asked - INTERVAL_SECONDS))


class MetricsSnapshot(msgspec.Struct, frozen=True):
    """All values of the metrics at one moment."""

    version: str
    instance: str
    tables: Sequence[TableInfo]
    load: EngineLoad
    counters: TrafficCounters
    delays: LoopDelays
    connections: int
    anonymous: int
    exports: int


def metrics(now: MetricsSnapshot, *, of_gateway: bool = True) -> str:
    """All metrics; without `of_gateway` those of the tables alone."""
    lines = chain(_of_tables(now), _of_gateway(now) if of_gateway else ())
    return "".join(f"{line}\n" for line in lines)


def _of_tables(now: MetricsSnapshot) -> Iterator[str]:
    info = _labels(version=now.version, instance=now.instance)
    yield from _metric("info", "The running gateway.", [(info, 1)])
    yield from _metric("ready", "Whether all tables are loaded.", [("", int(now.load.ready))])
    for name, (sentence, value) in _OF_TABLES.items():
        of_each = [(_labels(table=table.name), value(table)) for table in now.tables]
        yield from _metric(name, sentence, of_each)
    yield from _gaps(now.tables)
    states = [
        (_labels(table=table.name, state=state.value), int(table.state is state))
        for table in now.tables
        for state in Live
    ]
    yield from _metric("table_state", "1 for the current state of the table, else 0.", states)


def _of_gateway(now: MetricsSnapshot) -> Iterator[str]:
    """What all viewers and tables of the gateway have caused together."""
    for name, (sentence, number) in _numbers(now).items():
        yield from _metric(name, sentence, [("", number)])
    skipped = [(_labels(reason=of), count) for of, count in now.load.manifest_skipped.items()]
    sentence = "Records of the manifest that could not be read, by reason."
    yield from _metric("manifest_skipped_total", sentence, skipped)
    for name, (sentence, label, counts) in _counted(now.counters).items():
        samples = [(_labels(**{label: of}), count) for of, count in counts.items()]
        yield from _metric(name, sentence, samples)
    yield from _histogram(now.delays)


def _gaps(tables: Sequence[TableInfo]) -> Iterator[str]:
    gaps = [(table.name, gap) for table in tables for gap in table.gaps]
    of_gateway = {reason.value for reason in GapReason if reason.is_of_gateway}
    for name, sentence, is_shown in (
        ("join_gaps_messages", "Messages left out of the join, by reason.", False),
        ("table_gaps_total", "Rows or changes that this gateway lacks, by reason.", True),
    ):
        samples = [
            (_labels(table=table, reason=gap.reason), gap.messages)
            for table, gap in gaps
            if (gap.reason in of_gateway) is is_shown
        ]
        yield from _metric(name, sentence, samples)


def _numbers(now: MetricsSnapshot) -> Mapping[str, tuple[str, Number]]:
    load, counters, delays = now.load, now.counters, now.delays
    return {
        "views": ("Views over all tables.", load.hub.views),
        "windows": ("Different windows over all views.", load.hub.windows),
        "subscribers": ("Subscriptions to windows.", load.hub.subscribers),
        "view_cpu_seconds_total": ("CPU spent on views.", load.view_seconds),
        "publications_total": ("Publications of windows.", load.hub.publications),
        "rows_applied_total": ("Changes applied.", load.rows_applied),
        "engine_delay_seconds": (
            "Since the oldest change was read that is not published; 0: there is none.",
            load.delay_seconds,
        ),
        "connections": ("Open WebSockets.", now.connections),
        "strangers": ("Open WebSockets that have not logged in.", now.anonymous),
        "exports": ("Large downloads under way.", now.exports),
        "connections_total": ("WebSockets opened.", counters.connections),
        "logins_total": ("Successful logins.", counters.logins),
        "messages_total": ("Messages from clients.", counters.messages),
        "frames_total": ("Binary frames sent.", counters.frames),
        "frame_bytes_total": ("Bytes of frames sent.", counters.frame_bytes),
        "sent_messages_total": ("JSON messages to clients.", counters.texts),
        "control_messages_total": ("Earlier name of sent_messages_total.", counters.texts),
        "export_rows_total": ("Rows sent over HTTP.", counters.export_rows),
        "export_bytes_total": ("Bytes of rows sent over HTTP.", counters.export_bytes),
        "loop_delay_last_seconds": ("Last measured delay of the event loop.", delays.last),
        "loop_delay_worst_seconds": (
            "Worst delay of the event loop in the last minute.",
            delays.worst,
        ),
    }


def _counted(counters: TrafficCounters) -> Mapping[str, tuple[str, str, Mapping[str, int]]]:
    """What is counted by something: the sentence, the label's name, and the counts."""
    ended = {code.value: count for code, count in counters.ended.items()}
    statuses = {str(status): count for status, count in counters.requests.items()}
    verdicts = "Control messages over HTTP, by result: sent, or an error code."
    return {
        "dropped_total": ("Connections ended by the gateway, by code.", "reason", ended),
        "refused_total": (
            "Connections and requests refused, by limit or error code.",
            "reason",
            counters.refused,
        ),
        "http_requests_total": ("HTTP responses, by status.", "status", statuses),
        "control_requests_total": (verdicts, "verdict", counters.control),
        "audit_lost_total": (
            "Entries that the audit log lacks, by reason.",
            "reason",
            counters.audit_lost,
        ),
    }


def _histogram(delays: LoopDelays) -> Iterator[str]:
    name = "evergrid_loop_delay_seconds"
    yield f"# HELP {name} Delay of the event loop."
    yield f"# TYPE {name} histogram"
    for bound, count in zip(BUCKETS, delays.buckets, strict=True):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f'{name}_bucket{{le="+Inf"}} {delays.count}'
    yield f"{name}_sum {delays.sum!r}"
    yield f"{name}_count {delays.count}"


def _metric(name: str, sentence: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP evergrid_{name} {sentence}"
    yield f"# TYPE evergrid_{name} {'counter' if name.endswith('_total') else 'gauge'}"
    for labels, value in samples:
        yield f"evergrid_{name}{labels} {value!r}"


def _labels(**labels: str) -> str:
    return "{" + ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
