"""Metrics in the text format of Prometheus."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.table_engine import EngineLoad, TableInfo
from evergrid.gateway.http.loop_delay import BUCKETS, LoopDelays
from evergrid.protocol.messages import Live

MEDIA = "text/plain; version=0.0.4; charset=utf-8"

Number = int | float
Sample = tuple[str, Number]  # labels as they are written, value


class MetricType(enum.Enum):
    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


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


def metrics(now: MetricsSnapshot) -> str:
    return "".join(f"{line}\n" for line in _lines(now))


def _lines(now: MetricsSnapshot) -> Iterator[str]:
    info = _labels(version=now.version, instance=now.instance)
    yield from _metric("info", MetricType.GAUGE, "The running gateway.", [(info, 1)])
    yield from _tables(now.tables)
    yield from _engine(now.load)
    yield from _viewers(now)
    yield from _delays(now.delays)


def _tables(tables: Sequence[TableInfo]) -> Iterator[str]:
    def each(value: Iterable[Number]) -> list[Sample]:
        return [
            (_labels(table=table.name), number) for table, number in zip(tables, value, strict=True)
        ]

    gauges: dict[str, tuple[str, Sequence[Number]]] = {
        "table_rows": ("Rows in the table.", [t.rows for t in tables]),
        "table_bytes": ("Memory that the table uses.", [t.bytes for t in tables]),
        "table_max_bytes": ("Memory that the table may use.", [t.max_bytes for t in tables]),
        "table_changes_per_second": (
            "Changes applied per second, over the last seconds.",
            [t.changes_per_second for t in tables],
        ),
        "table_lag_seconds": (
            "Age of the newest message when the last change arrived.",
            [t.lag_seconds for t in tables],
        ),
        "table_views": ("Views over the table.", [t.views for t in tables]),
        "table_generation": (
            "Generation of the table; 0: none.",
            [t.generation for t in tables],
        ),
        "table_newest_seconds": (
            "Highest ts of the table, in seconds since the epoch.",
            [t.newest / 1e6 for t in tables],
        ),
        "table_loaded_changes": ("Changes loaded so far.", [t.done for t in tables]),
        "table_changes_to_load": ("Changes to load.", [t.total for t in tables]),
    }
    for name, (sentence, values) in gauges.items():
        yield from _metric(name, MetricType.GAUGE, sentence, each(values))
    yield from _metric(
        "table_changes_total",
        MetricType.COUNTER,
        "Changes applied.",
        each(t.changes for t in tables),
    )
    states = [
        (_labels(table=table.name, state=state.value), int(table.state is state))
        for table in tables
        for state in Live
    ]
    gaps = [
        (_labels(table=table.name, reason=gap.reason), gap.messages)
        for table in tables
        for gap in table.gaps
    ]
    yield from _metric(
        "join_gaps_messages", MetricType.GAUGE, "Messages left out of the join, by reason.", gaps
    )
    yield from _metric(
        "table_state", MetricType.GAUGE, "1 for the current state of the table, else 0.", states
    )


def _engine(load: EngineLoad) -> Iterator[str]:
    yield from _one("ready", MetricType.GAUGE, "Whether all tables are loaded.", int(load.ready))
    yield from _one("views", MetricType.GAUGE, "Views over all tables.", load.views)
    yield from _one("windows", MetricType.GAUGE, "Different windows over all views.", load.windows)
    yield from _one("subscribers", MetricType.GAUGE, "Subscriptions to windows.", load.subscribers)
    yield from _one(
        "view_cpu_seconds_total", MetricType.COUNTER, "CPU spent on views.", load.view_seconds
    )
    yield from _one(
        "publications_total", MetricType.COUNTER, "Publications of windows.", load.publications
    )
    yield from _one("rows_applied_total", MetricType.COUNTER, "Changes applied.", load.rows_applied)


def _viewers(now: MetricsSnapshot) -> Iterator[str]:
    counters = now.counters
    yield from _one("connections", MetricType.GAUGE, "Open WebSockets.", now.connections)
    yield from _one(
        "strangers", MetricType.GAUGE, "Open WebSockets that have not logged in.", now.anonymous
    )
    yield from _one("exports", MetricType.GAUGE, "Large downloads under way.", now.exports)
    totals = {
        "connections_total": ("WebSockets opened.", counters.connections),
        "logins_total": ("Successful logins.", counters.logins),
        "messages_total": ("Messages from clients.", counters.messages),
        "frames_total": ("Binary frames sent.", counters.frames),
        "frame_bytes_total": ("Bytes of frames sent.", counters.frame_bytes),
        "control_messages_total": ("JSON messages sent.", counters.texts),
        "export_rows_total": ("Rows sent over HTTP.", counters.export_rows),
        "export_bytes_total": ("Bytes of rows sent over HTTP.", counters.export_bytes),
    }
    for name, (sentence, value) in totals.items():
        yield from _one(name, MetricType.COUNTER, sentence, value)
    yield from _metric(
        "dropped_total",
        MetricType.COUNTER,
        "Connections ended by the gateway, by code.",
        [(_labels(reason=code.value), n) for code, n in counters.ended.items()],
    )
    yield from _metric(
        "http_requests_total",
        MetricType.COUNTER,
        "HTTP responses, by status.",
        [(_labels(status=str(status)), n) for status, n in counters.requests.items()],
    )
    yield from _metric(
        "control_requests_total",
        MetricType.COUNTER,
        "Control messages over HTTP, by result: sent, or an error code.",
        [(_labels(verdict=verdict), n) for verdict, n in counters.control.items()],
    )


def _delays(delays: LoopDelays) -> Iterator[str]:
    yield from _one(
        "loop_delay_last_seconds",
        MetricType.GAUGE,
        "Last measured delay of the event loop.",
        delays.last,
    )
    yield from _one(
        "loop_delay_worst_seconds",
        MetricType.GAUGE,
        "Worst delay of the event loop in the last minute.",
        delays.worst,
    )
    name = "evergrid_loop_delay_seconds"
    yield f"# HELP {name} Delay of the event loop."
    yield f"# TYPE {name} {MetricType.HISTOGRAM.value}"
    for bound, count in zip(BUCKETS, delays.buckets, strict=True):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f'{name}_bucket{{le="+Inf"}} {delays.count}'
    yield f"{name}_sum {delays.sum!r}"
    yield f"{name}_count {delays.count}"


def _one(name: str, type_: MetricType, sentence: str, value: Number) -> Iterator[str]:
    return _metric(name, type_, sentence, [("", value)])


def _metric(
    name: str, type_: MetricType, sentence: str, samples: Sequence[Sample]
) -> Iterator[str]:
    yield f"# HELP evergrid_{name} {sentence}"
    yield f"# TYPE evergrid_{name} {type_.value}"
    for labels, value in samples:
        yield f"evergrid_{name}{labels} {value!r}"


def _labels(**labels: str) -> str:
    return "{" + ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
