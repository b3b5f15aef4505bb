"""The oracle reads every message of the shared table as semantics say."""

from __future__ import annotations

import pytest
from tests.support.cases import CASES, Case

from evergrid.testing import oracle

LIMITS = oracle.LimitsSpec()


def source_of(case: Case) -> oracle.SourceSpec:
    return oracle.from_config({"sources": {"s": case.section}}).sources["s"]


def message(value: bytes | None, offset: int = 7) -> oracle.Message:
    return oracle.Message("s", 1, offset, 1_700_000_000_123, b"key", value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_message_becomes_its_row_or_its_reason(case: Case) -> None:
    reading = oracle.read(message(case.value), source_of(case), LIMITS)
    if isinstance(case.expected, str):
        assert isinstance(reading, oracle.Bad)
        assert reading.reason == case.expected
        return
    assert isinstance(reading, oracle.Row), reading.reason
    expected = case.columns()
    assert oracle.differences({"row": expected}, {"row": dict(reading.values)}) == ""
    assert reading.unknown_fields == case.unknown_fields


def test_no_case_is_there_twice() -> None:
    assert len({(case.timed, case.value) for case in CASES}) == len(CASES) > 400


def test_time_is_kafkas_unless_a_field_is_named() -> None:
    config = {"sources": {"s": {"key": "id", "fields": {"id": "text", "at": "timestamp(s)"}}}}
    by_kafka = oracle.from_config(config).sources["s"]
    config["sources"]["s"]["time"] = "at"
    by_field = oracle.from_config(config).sources["s"]
    one = message(b'{"at": 5}')
    assert [_ts(one, source) for source in (by_kafka, by_field)] == [
        1_700_000_000_123_000,
        5_000_000,
    ]


def _ts(one: oracle.Message, source: oracle.SourceSpec) -> int:
    reading = oracle.read(one, source, LIMITS)
    assert isinstance(reading, oracle.Row)
    return reading.ts


def test_text_shown_of_a_bad_message_is_cut_and_always_readable() -> None:
    source = source_of(CASES[0])
    short = oracle.LimitsSpec(quarantine_characters=5)
    shown = [
        (reading.text if isinstance(reading, oracle.Bad) else "a row")
        for reading in (
            oracle.read(message(value), source, short)
            for value in (None, b"", "é".encode() * 9, b"a\xffb\xc3", b"[1]")
        )
    ]
    assert shown == [None, "", "ééééé", "a\ufffdb\ufffd", "[1]"]


def test_limits_are_the_configurations() -> None:
    source = source_of(CASES[0])
    limits = oracle.LimitsSpec(message_bytes=20, nesting=2)
    reasons = [
        reading.reason if isinstance(reading, oracle.Bad) else "a row"
        for reading in (
            oracle.read(message(value), source, limits)
            for value in (b'{"name": [1]}', b'{"name": [[1]]}', b'{"name": "0123456789"}')
        )
    ]
    assert reasons == [
        "a row",
        "nested deeper than 2 levels",
        "too large: 22 bytes, limit 20",
    ]
