"""Any bytes on a source topic: the engine's Java against the table of cases and the oracle."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.pipeline.engine.raw_changes import raw_changes
from evergrid.testing import oracle
from tests.support.cases import CASES, EVERY, TIMED, Case
from tests.support.hostile_messages import hostile
from tests.support.soak import Counted, Soak

TIME_MS = 1_767_225_600_000
SOURCES = {"every": {"topic": "every", **EVERY}, "timed": {"topic": "timed", **TIMED}}
SEED = 20_260_101
HOSTILE = 12_000
MORE_HOSTILE = 60_000
LOTS = 84


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    path: Path = tmp_path_factory.mktemp("config") / "evergrid.yaml"
    path.write_text(yaml.safe_dump({"sources": SOURCES}, sort_keys=False))
    return load(path, {})


class Read(msgspec.Struct):
    """What became of a message: why it is no row, or the row's fields."""

    flaw: str | None
    row: dict[str, oracle.Value]
    unknown: int | None = None


def read(
    spark: SparkSession, settings: Settings, name: str, values: Sequence[bytes | None]
) -> list[Read]:
    """What the engine makes of `values`, in order, as one batch of messages at one time."""
    messages = spark.createDataFrame(
        [(0, offset, value) for offset, value in enumerate(values)],
        "partition int, offset bigint, value binary",
    ).withColumn("timestamp", F.timestamp_millis(F.lit(TIME_MS)))
    changes = raw_changes(messages, settings.sources[name], "raw", "bad", settings.limits)
    found = [checked(name, *change) for change in changes.collect()]
    return [read for _, read in sorted(found, key=lambda one: one[0])]


def checked(name: str, topic: str, key: bytes, value: bytes, ts: int) -> tuple[int, Read]:
    """A change as (offset, what was read), after a look at all that is not the message's."""
    row = json.loads(value)
    offset = row.pop("_offset")
    place = f"0:{offset}" if topic == "raw" else f"{name}:0:{offset}"
    assert (key.decode(), row.pop("_partition"), row.pop("ts")) == (place, 0, ts)
    if topic == "raw":
        assert ts == (row["at"] if name == "timed" else TIME_MS * 1000)
        return offset, Read(None, row, row.pop("_unknown_fields"))
    assert (row["topic"], ts) == (name, TIME_MS * 1000)
    return offset, Read(row["reason"], row)


def test_every_line_of_the_table(spark: SparkSession, settings: Settings) -> None:
    wrong = [
        line
        for name, section in (("every", EVERY), ("timed", TIMED))
        for line in unlike(spark, settings, name, [c for c in CASES if c.section is section])
    ]
    assert not wrong, "\n".join(wrong)


def unlike(
    spark: SparkSession, settings: Settings, name: str, cases: Sequence[Case]
) -> Iterable[str]:
    rows = read(spark, settings, name, [case.value for case in cases])
    for case, row in zip(cases, rows, strict=True):
        if isinstance(case.expected, str):
            if row.flaw != case.expected:
                yield f"{case.name}: {row.flaw!r} instead of {case.expected!r}"
            continue
        if row.flaw is not None:
            yield f"{case.name}: refused, {row.flaw}"
            continue
        expected = {"0:0": as_read(case, settings, name)}
        actual = {"0:0": {**row.row, "unknown": row.unknown}}
        if differs := oracle.differences(expected, actual):
            yield f"{case.name}: {differs}"


def as_read(case: Case, settings: Settings, name: str) -> dict[str, oracle.Value]:
    """The case's columns as the oracle reads them, which agrees with the table (tests/testing)."""
    message = oracle.Message(name, 0, 0, TIME_MS, None, case.value)
    spec = oracle.from_config({"sources": SOURCES})
    row = oracle.read(message, spec.sources[name], spec.limits)
    assert isinstance(row, oracle.Row)
    return {**row.values, "unknown": case.unknown_fields}


def test_hostile_bytes_are_read_as_the_oracle_reads_them(
    spark: SparkSession, settings: Settings
) -> None:
    agrees_on_hostile_bytes(spark, settings, "every", SEED, HOSTILE)


def test_many_more_hostile_bytes_of_a_source_with_a_time_field(
    spark: SparkSession, settings: Settings
) -> None:
    agrees_on_hostile_bytes(spark, settings, "timed", SEED + 1, MORE_HOSTILE)


@pytest.mark.soak(part="inputs")
def test_a_million_hostile_messages(spark: SparkSession, settings: Settings, soak: Soak) -> None:
    for lot in range(soak.figure(LOTS)):
        name = ("every", "timed")[lot % 2]
        agrees_on_hostile_bytes(spark, settings, name, soak.seed + lot, HOSTILE)
        soak.count(Counted.BAD_INPUTS, HOSTILE)


def agrees_on_hostile_bytes(
    spark: SparkSession, settings: Settings, name: str, seed: int, count: int
) -> None:
    print(f"seed {seed}")
    spec = oracle.from_config({"sources": SOURCES})
    source = spec.sources[name]
    values = list(islice(hostile(random.Random(seed), source, spec.limits), count))
    wrong = []
    for value, row in zip(values, read(spark, settings, name, values), strict=True):
        told = oracle.read(oracle.Message(name, 0, 0, TIME_MS, None, value), source, spec.limits)
        if differs := disagreement(told, row):
            wrong.append(f"{value!r}: {differs}")
    assert not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(w[:600] for w in wrong[:20])


def disagreement(told: oracle.Row | oracle.Bad, row: Read) -> str:
    if isinstance(told, oracle.Bad):
        if row.flaw is None:
            return f"became a row, but: {told.reason}"
        if row.row["text"] != told.text:
            return f"quarantine shows {row.row['text']!r} instead of {told.text!r}"
        same = row.flaw == told.reason or blames(row.flaw) == blames(told.reason) != []
        return "" if same else f"{row.flaw!r} instead of {told.reason!r}"
    if row.flaw is not None:
        return f"refused, {row.flaw}"
    expected: Mapping[str, oracle.Value] = {**told.values, "unknown": told.unknown_fields}
    actual = {**row.row, "unknown": row.unknown}
    return oracle.differences({"0:0": dict(expected)}, {"0:0": actual})


def blames(reason: str) -> list[tuple[str, str]]:
    """The fields that a reason names, and what it says of each.

    How an object or array is quoted is no promise: the oracle quotes it as it was written.
    """
    verdicts = r"(?:^|; )([\w-]+): '.*?' (is not|is out of range for|does not fit) "
    return re.findall(verdicts, reason, re.DOTALL)


def test_a_limit_is_the_last_size_that_passes(spark: SparkSession, settings: Settings) -> None:
    small = msgspec.structs.replace(
        settings, limits=msgspec.structs.replace(settings.limits, message_bytes=20, nesting=3)
    )
    fits, too_large = b'{"id":"123456789abcd"}'[:19] + b'"}', b'{"id":"123456789abcdef"}'
    rows = read(spark, small, "every", [fits, too_large, b'{"id":[[1]]}', b'{"id":[[[1]]]}'])
    assert [row.flaw for row in rows] == [
        None if len(fits) <= 20 else f"too large: {len(fits)} bytes, limit 20",
        "too large: 24 bytes, limit 20",
        None,
        "nested deeper than 3 levels",
    ]


def test_quarantine_shows_no_more_characters_than_allowed(
    spark: SparkSession, settings: Settings
) -> None:
    few = msgspec.structs.replace(settings.limits, quarantine_characters=5)
    rng = random.Random(SEED)
    pieces = [b"a", b'"', b"\n", "é😀".encode(), b"\xff", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc3"]
    values = [b"".join(rng.choices(pieces, k=rng.randint(1, 8))) for _ in range(2_000)]
    rows = read(spark, msgspec.structs.replace(settings, limits=few), "every", values)
    expected = [value.decode(errors="replace")[:5] for value in values]
    assert [row.row["text"] for row in rows] == expected
