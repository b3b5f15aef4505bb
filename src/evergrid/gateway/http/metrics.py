"""What Prometheus reads, written in its text format."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from evergrid.gateway.access.traffic_counters import Counts
from evergrid.gateway.engine.deliveries import Load, TableInfo
from evergrid.gateway.http.loop_delay import BUCKETS, Delays
from evergrid.protocol.messages import Live

MEDIA = "text/plain; version=0.0.4; charset=utf-8"

Number = int | float
Sample = tuple[str, Number]  # labels as they are written, value


class Type(enum.Enum):
    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


class Situation(msgspec.Struct, frozen=True):
    """All that is shown, taken at one moment."""

    version: str
    instance: str
    tables: Sequence[TableInfo]
    load: Load
    counts: Counts
    delays: Delays
    connections: int
    strangers: int
    exports: int


def metrics(now: Situation) -> str:
    return "".join(f"{line}\n" for line in _lines(now))


def _lines(now: Situation) -> Iterator[str]:
    info = _labels(version=now.version, instance=now.instance)
    yield from _metric("info", Type.GAUGE, "The running gateway.", [(info, 1)])
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
        "table_bytes": ("Memory that the table takes.", [t.bytes for t in tables]),
        "table_max_bytes": ("Memory that it may take.", [t.max_bytes for t in tables]),
        "table_changes_per_second": (
            "Changes applied a second, lately.",
            [t.changes_per_second for t in tables],
        ),
        "table_lag_seconds": (
            "How old the newest of its messages was when the last change came.",
            [t.lag_seconds for t in tables],
        ),
        "table_views": ("Views over the table.", [t.views for t in tables]),
        "table_generation": (
            "Its generation; 0: it belongs to none.",
            [t.generation for t in tables],
        ),
        "table_newest_seconds": (
            "The highest ts in it, in seconds since the epoch.",
            [t.newest / 1e6 for t in tables],
        ),
        "table_loaded_changes": ("Changes loaded, of those to load.", [t.done for t in tables]),
        "table_changes_to_load": ("Changes to load.", [t.total for t in tables]),
    }
    for name, (sentence, values) in gauges.items():
        yield from _metric(name, Type.GAUGE, sentence, each(values))
    yield from _metric(
        "table_changes_total", Type.COUNTER, "Changes applied.", each(t.changes for t in tables)
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
        "join_gaps_messages", Type.GAUGE, "Messages left out of the join, by reason.", gaps
    )
    yield from _metric("table_state", Type.GAUGE, "1 for the state that it is in.", states)


def _engine(load: Load) -> Iterator[str]:
    yield from _one("ready", Type.GAUGE, "Whether all tables are loaded.", int(load.ready))
    yield from _one("views", Type.GAUGE, "Live views.", load.views)
    yield from _one("windows", Type.GAUGE, "Different windows over them.", load.windows)
    yield from _one("subscribers", Type.GAUGE, "Who looks at them.", load.tickets)
    yield from _one(
        "view_cpu_seconds_total", Type.COUNTER, "CPU spent on views.", load.view_seconds
    )
    yield from _one("publications_total", Type.COUNTER, "New states of windows.", load.publications)
    yield from _one("rows_applied_total", Type.COUNTER, "Changes applied.", load.rows_applied)


def _viewers(now: Situation) -> Iterator[str]:
    counts = now.counts
    yield from _one("connections", Type.GAUGE, "Open WebSockets.", now.connections)
    yield from _one("strangers", Type.GAUGE, "Those that have not logged in.", now.strangers)
    yield from _one("exports", Type.GAUGE, "Large downloads under way.", now.exports)
    counters = {
        "connections_total": ("WebSockets opened.", counts.connections),
        "logins_total": ("Clients that logged in.", counts.logins),
        "messages_total": ("Messages from clients.", counts.messages),
        "frames_total": ("Frames sent.", counts.frames),
        "frame_bytes_total": ("Bytes of frames sent.", counts.frame_bytes),
        "control_messages_total": ("Other messages sent.", counts.words),
        "export_rows_total": ("Rows sent over HTTP.", counts.export_rows),
        "export_bytes_total": ("Bytes of rows sent over HTTP.", counts.export_bytes),
    }
    for name, (sentence, value) in counters.items():
        yield from _one(name, Type.COUNTER, sentence, value)
    yield from _metric(
        "dropped_total",
        Type.COUNTER,
        "Connections ended by the gateway, by code.",
        [(_labels(reason=code.value), n) for code, n in counts.ended.items()],
    )
    yield from _metric(
        "http_requests_total",
        Type.COUNTER,
        "Answers over HTTP, by status.",
        [(_labels(status=str(status)), n) for status, n in counts.requests.items()],
    )
    yield from _metric(
        "control_requests_total",
        Type.COUNTER,
        "Control messages that keys wanted to send, by what became of them: sent, or a code.",
        [(_labels(verdict=verdict), n) for verdict, n in counts.control.items()],
    )


def _delays(delays: Delays) -> Iterator[str]:
    yield from _one("loop_delay_last_seconds", Type.GAUGE, "The event loop's.", delays.last)
    yield from _one(
        "loop_delay_worst_seconds", Type.GAUGE, "The worst of the last minute.", delays.worst
    )
    name = "evergrid_loop_delay_seconds"
    yield f"# HELP {name} How late the event loop was."
    yield f"# TYPE {name} {Type.HISTOGRAM.value}"
    for bound, count in zip(BUCKETS, delays.buckets, strict=True):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f'{name}_bucket{{le="+Inf"}} {delays.count}'
    yield f"{name}_sum {delays.sum!r}"
    yield f"{name}_count {delays.count}"


def _one(name: str, type_: Type, sentence: str, value: Number) -> Iterator[str]:
    return _metric(name, type_, sentence, [("", value)])


def _metric(name: str, type_: Type, sentence: str, samples: Sequence[Sample]) -> Iterator[str]:
    yield f"# HELP evergrid_{name} {sentence}"
    yield f"# TYPE evergrid_{name} {type_.value}"
    for labels, value in samples:
        yield f"evergrid_{name}{labels} {value!r}"


def _labels(**labels: str) -> str:
    return "{" + ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
