from __future__ import annotations

import re

from evergrid.changelog.manifest import Gap
from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.hub_types import HubCounts
from evergrid.gateway.engine.table_engine import EngineLoad, TableInfo
from evergrid.gateway.http.metrics import BUCKETS, LoopDelays, MetricsSnapshot, metrics
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live

LINE = re.compile(r"(# (HELP|TYPE) evergrid_\w+ .+|evergrid_\w+(\{.+\})? -?[0-9.e+-]+)")


def situation() -> MetricsSnapshot:
    table = TableInfo(
        name="people",
        state=Live.LIVE,
        message="",
        columns=(),
        generation=2,
        rows=5,
        bytes=100,
        max_rows=0,
        max_bytes=1000,
        changes=9,
        changes_per_second=1.5,
        newest=2_000_000,
        lag_seconds=0.25,
        since=0,
        views=1,
        done=0,
        total=0,
        gaps=(
            Gap("history", 12, ("u1",), 1),
            Gap("state", 1, (), 2),
            Gap("table_memory", 9, (), 3),
        ),
    )
    counts = TrafficCounters()
    counts.ended[Code.TOO_SLOW] = 3
    counts.texts = 6
    delays = LoopDelays()
    for delay in (0.0, 0.02, 5.0):
        delays.add(delay)
    load = EngineLoad(HubCounts(1, 2, 3, 7), 0.5, 9, True, "", "", manifest_skipped={"invalid": 4})
    return MetricsSnapshot("0.1", 'a"b\\c\n', [table], load, counts, delays, 4, 1, 0)


def test_every_line_is_one_that_prometheus_reads() -> None:
    for line in metrics(situation()).splitlines():
        assert LINE.fullmatch(line), line


def test_each_metric_is_described_once() -> None:
    named = re.findall(r"# TYPE (\w+)", metrics(situation()))
    assert len(named) == len(set(named))


def test_what_one_looks_for_is_there() -> None:
    lines = metrics(situation()).splitlines()
    for line in (
        'evergrid_info{version="0.1",instance="a\\"b\\\\c\\n"} 1',
        'evergrid_table_rows{table="people"} 5',
        'evergrid_table_changes_total{table="people"} 9',
        'evergrid_table_lag_seconds{table="people"} 0.25',
        'evergrid_table_state{table="people",state="live"} 1',
        'evergrid_join_gaps_messages{table="people",reason="history"} 12',
        'evergrid_join_gaps_messages{table="people",reason="state"} 1',
        'evergrid_table_gaps_total{table="people",reason="table_memory"} 9',
        'evergrid_manifest_skipped_total{reason="invalid"} 4',
        'evergrid_table_state{table="people",state="stale"} 0',
        "evergrid_view_cpu_seconds_total 0.5",
        "evergrid_subscribers 3",
        "evergrid_sent_messages_total 6",
        "evergrid_control_messages_total 6",
        "evergrid_connections 4",
        'evergrid_dropped_total{reason="too_slow"} 3',
        'evergrid_loop_delay_seconds_bucket{le="0.025"} 2',
        'evergrid_loop_delay_seconds_bucket{le="+Inf"} 3',
        "evergrid_loop_delay_seconds_count 3",
    ):
        assert line in lines


def test_a_key_for_some_tables_gets_their_metrics_alone() -> None:
    shown = metrics(situation(), of_gateway=False)
    named = re.findall(r"# TYPE evergrid_(\w+)", shown)
    assert named[:2] == ["info", "ready"]
    assert all(name.startswith(("table_", "join_")) for name in named[2:])
    assert 'evergrid_table_rows{table="people"} 5\n' in shown


def test_the_worst_delay_of_the_last_minute_is_kept() -> None:
    delays = LoopDelays()
    delays.add(3.0)
    assert delays.worst == 3.0
    for _ in range(600):
        delays.add(0.001)
    assert delays.worst == 0.001
    assert delays.buckets[0] == 600
    assert BUCKETS[0] == 0.001
