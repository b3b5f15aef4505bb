"""Streams are repeatable from any number on, hold what was asked for, and are quick to make."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import replace

import pytest

from evergrid.testing import oracle
from evergrid.testing.oracle import JoinType
from evergrid.testing.random_cases import Send, delivered
from tests.support.traffic import Stream, Traffic

FIELDS = {"userId": "text", "orderId": "text", "at": "timestamp(us)", "flag": "boolean"}
SPEC = oracle.from_config(
    {
        "sources": {
            "users": {"key": "userId", "fields": {**FIELDS, "age": "integer", "x": "float"}},
            "accounts": {"key": "userId", "fields": {**FIELDS, "balance": "decimal(18,2)"}},
        },
        "joins": {"final": {"left": "users", "right": "accounts"}},
    }
)
PLAIN = Traffic(seed=5)
MIXED = Traffic(
    seed=6,
    keys=100,
    skew=1.0,
    late_share=0.05,
    late_ms=60_000,
    ties=4,
    step_ms=1,
    repeat_share=0.05,
    no_key_share=0.05,
    bad_share=0.05,
    partitions=3,
)


def stream(traffic: Traffic, spec: oracle.Spec = SPEC) -> Stream:
    return Stream(traffic, spec.sources["users"], spec.sources["accounts"], "orderId")


def rows(sends: list[Send], spec: oracle.Spec = SPEC) -> list[oracle.Row]:
    readings, messages = oracle.Readings(), delivered(sends)
    return [row for source in spec.sources.values() for row in readings.rows(messages, source)]


def test_any_piece_can_be_made_again() -> None:
    whole = list(stream(MIXED).sends(0, 500))
    assert list(stream(MIXED).sends(300, 400)) == whole[300:400]
    assert list(stream(replace(MIXED, seed=7)).sends(0, 500)) != whole


def test_a_plain_stream_is_in_order_and_whole() -> None:
    sends = list(stream(PLAIN).sends(0, 2_000))
    assert len(rows(sends)) == 2_000
    assert [send.timestamp_ms for send in sends] == sorted(send.timestamp_ms for send in sends)
    assert {send.key for send in sends} == {f"k{n}".encode() for n in range(10)}
    assert len({send.value for send in sends}) == 2_000


def test_shares_are_about_what_was_asked_for() -> None:
    count = 10_000
    sends = list(stream(MIXED).sends(0, count))
    good = rows(sends)
    assert (count - len(good)) / count == pytest.approx(0.05, abs=0.01)
    assert sum(r.values["userId"] is None for r in good) / count == pytest.approx(0.05, abs=0.01)
    assert sum(send.topic == "users" for send in sends) / count == pytest.approx(0.3, abs=0.02)
    newest = [MIXED.start_ms + n // 4 for n in range(count)]
    late = [n for n, send in enumerate(sends) if send.timestamp_ms < newest[n] - 100]
    assert len(late) / count == pytest.approx(0.05, abs=0.01)
    assert max(Counter(send.timestamp_ms for send in sends).values()) >= 4
    repeated = count - len({(send.topic, send.value) for send in sends if send.value})
    assert repeated / count > 0.04
    assert Counter(send.partition for send in sends).keys() == {0, 1, 2}


def test_zipf_keys_have_a_hot_one_and_many_small_ones() -> None:
    keys = Counter(
        send.key for send in stream(replace(PLAIN, keys=5_000, skew=1.1)).sends(0, 20_000)
    )
    assert keys[b"k0"] > 2_000
    assert len(keys) > 1_500


def test_a_million_keys_take_seconds() -> None:
    began = time.process_time()
    keys = {send.key for send in stream(replace(PLAIN, keys=1_000_000)).sends(0, 1_000)}
    assert len(keys) > 990
    assert time.process_time() - began < 10


def test_groups_keep_the_pairs_of_an_inner_join_few() -> None:
    by_group = replace(
        SPEC.joins["final"], type=JoinType.INNER, left_key="orderId", right_key="orderId"
    )
    messages = delivered(stream(replace(PLAIN, keys=3)).sends(0, 20_000))
    assert 20_000 < len(oracle.join(messages, by_group, SPEC.sources)) < 100_000


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_source_with_a_time_of_its_own_gets_it_in_its_unit(unit: str) -> None:
    section = {"key": "userId", "time": "at", "fields": {**FIELDS, "at": f"timestamp({unit})"}}
    spec = oracle.from_config({"sources": {"users": section, "accounts": section | {"topic": "b"}}})
    for row in rows(list(stream(PLAIN, spec).sends(0, 100)), spec):
        assert row.ts == row.message.timestamp_ms * 1_000, json.loads(row.message.value or b"")


def test_twenty_thousand_messages_take_seconds() -> None:
    began = time.process_time()
    assert sum(1 for _ in stream(MIXED).sends(0, 20_000)) == 20_000
    assert time.process_time() - began < 5
