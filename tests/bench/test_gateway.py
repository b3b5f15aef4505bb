"""What the gateway's figures make of what was seen, on numbers that can be checked by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bench.arithmetic import delays
from bench.audience import Seen, Span
from bench.changes import newest_stamp
from bench.crowd import Sight
from bench.deaf import masked
from bench.fanout import slow_values
from bench.figure import Value
from bench.intake import TakenIn
from bench.joined import JoinedRows, joined_table, row_id
from bench.knocks import Knock
from bench.loading import values
from bench.server import mean_delay, read_metrics
from bench.stall import phase_values
from bench.viewing import Cost, Costs, different_queries
from bench.views import batch_values, ratio_values

from evergrid.changelog.arrow_reader import RowReader
from evergrid.store.table_store import TableStore

STAMP = 1_790_000_000_000_000


def amounts(found: tuple[Value, ...]) -> dict[str, float]:
    return {value.name: value.amount for value in found}


def test_made_up_rows_are_the_same_as_bytes_and_as_columns() -> None:
    rows = JoinedRows(50, STAMP)
    reader = RowReader(joined_table(100))
    for version in (0, 3):
        parsed, bad = reader.read(rows.values(range(40), version))
        assert not bad
        assert rows.batch(np.arange(40), version).to_pylist() == parsed.to_pylist()


def test_a_made_up_row_has_the_id_that_the_store_gives_it() -> None:
    store = TableStore(joined_table(10))
    slots = store.upsert(JoinedRows(5, STAMP).batch(np.arange(4)), 1).changed
    assert store.row_ids(slots) == [row_id(number).decode() for number in range(4)]


def test_a_later_version_of_a_row_wins() -> None:
    store, rows = TableStore(joined_table(10)), JoinedRows(1000, STAMP)
    for tick, version in enumerate((1, 2, 1), start=1):
        store.upsert(rows.batch(np.arange(1), version), tick)
    assert store.take(store.slots(0, 1), ["_accounts_offset"])[0].to_pylist() == [2]


def test_a_beat_is_found_in_a_frame_by_its_mark() -> None:
    value = JoinedRows(5, STAMP).value(0, 1, STAMP, f"@{STAMP}")
    assert json.loads(value)["accountType"] == f"@{STAMP}"
    assert newest_stamp(b"\0\1" + value + b"@1690000000000000") == STAMP
    assert newest_stamp(b"someone@example.com 1790000000000000") == 0


def test_what_was_skipped_is_as_late_as_the_first_newer_thing() -> None:
    seen = [(11.0, 10.0), (45.0, 30.0)]  # the state of 20 was replaced by that of 30
    assert delays([10.0, 20.0, 30.0, 40.0], seen) == [1.0, 25.0, 15.0]
    assert delays([1.0], []) == []


def test_only_beats_of_the_measured_part_count_for_each_probe() -> None:
    sights = [Sight(1_004_000, 1_000_000, 1_003_000), Sight(2_009_000, 2_000_000, 2_004_000)]
    seen = Seen([1_000_000, 2_000_000], [sights, sights], [])
    assert seen.from_change([Span(0, 9_000_000)]) == [4.0, 4.0, 9.0, 9.0]
    assert seen.from_change([Span(1_500_000, 9_000_000)]) == [9.0, 9.0]
    assert seen.from_state([Span(0, 1_500_000)]) == [1.0, 1.0]


def test_the_ratio_sets_those_who_never_read_against_their_absence() -> None:
    sights = [Sight(1_010_000, 1_000_000, 0), Sight(2_012_000, 2_000_000, 0)]
    seen = Seen([1_000_000, 2_000_000], [sights], [])
    apart = Span(0, 1_500_000), Span(1_500_000, 3_000_000)
    found = amounts(slow_values(seen, [apart[0]], [apart[1]], [11.0, 12.5]))
    assert found["p99, with to without"] == pytest.approx(1.2)
    assert found["gone after"] == 12.5
    assert found["frames timed"] == 2


def test_load_is_given_per_row() -> None:
    taken = TakenIn(2.0, 1.0, 0.5, 40_000_000, 30_000_000, 35_000_000)
    found = amounts(values(100_000, taken))
    assert found["rate"] == 50_000
    assert (found["in the store"], found["process grew by"]) == (300, 350)
    assert found["CPU to parse 10,000"] == pytest.approx(100)


def test_the_cost_of_a_batch_is_all_its_parts() -> None:
    few = Cost(1_000, apply=0.002, views=0.003, publish=0.005, frames=2)
    many = Cost(1_000, apply=0.004, views=0.003, publish=0.008, frames=2)
    assert amounts(batch_values(Costs((few,), 0.1, 400), 200))["1,000 upserts"] == 10
    assert amounts(batch_values(Costs((few,), 0.1, 400), 200))["view memory"] == 2
    assert amounts(ratio_values(few, many))["ratio"] == pytest.approx(1.5)


def test_there_are_enough_different_views() -> None:
    queries = different_queries()
    assert len(set(queries)) == len(queries) >= 50


def test_metrics_are_read_with_and_without_labels() -> None:
    text = '# HELP evergrid_views x\nevergrid_views 3\nevergrid_table_rows{table="a"} 1e3\n'
    assert read_metrics(text) == {"views": 3, 'table_rows{table="a"}': 1000}


def test_the_mean_delay_is_that_of_the_time_between_two_looks() -> None:
    before = {"loop_delay_seconds_sum": 1.0, "loop_delay_seconds_count": 10.0}
    after = {"loop_delay_seconds_sum": 1.1, "loop_delay_seconds_count": 60.0}
    assert mean_delay(before, after) == pytest.approx(2)


def test_only_knocks_during_the_work_tell_of_it() -> None:
    knocks = [Knock(5, 900_000), Knock(1_000_000, 2_000), Knock(2_500_000, 4_000)]
    found = amounts(phase_values("view", Span(1_000_000, 3_000_000), 7.0, 1.0, knocks))
    assert found["view"] == 2
    assert found["view: /livez max"] == 4


def test_a_message_of_a_client_is_masked_with_its_length() -> None:
    assert masked("ab") == b"\x81\x82\0\0\0\0ab"
    assert masked("a" * 300)[:8] == b"\x81\xfe\x01\x2c\0\0\0\0"
