"""The engine's Java as another Java class uses it, and whether it fits the Spark that runs it."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from evergrid.config.settings import Limits
from evergrid.model.field_types import BOOLEAN, FLOAT, INTEGER, TEXT, TIMESTAMP, parse_type
from evergrid.model.source import Field, Source
from evergrid.pipeline.engine import engine_jar
from evergrid.pipeline.engine.raw_changes import raw_changes, source_spec

LIMITS = Limits(message_bytes=1000, nesting=5, quarantine_characters=8)
MONEY = parse_type("decimal(18,2)")
assert MONEY is not None
FIELDS = (
    Field("id", TEXT),
    Field("count", INTEGER),
    Field("ratio", FLOAT),
    Field("money", MONEY),
    Field("flag", BOOLEAN),
    Field("at", TIMESTAMP),
    Field("again", TEXT, json_name="count"),
)
SOURCE = Source("things", "things", "things", FIELDS, key="id")
KAFKA_MICROS = 1_767_225_600_000_000


def reader(
    spark: SparkSession, key: str = "", shown: tuple[tuple[str, str], ...] = (), time: str = ""
) -> Any:
    source = Source("things", "things", "things", FIELDS, key="id", time_field=time)
    spec = source_spec(source, LIMITS, key, shown)
    return java(spark).Reader.of(spec)


def java(spark: SparkSession) -> Any:
    machine = spark._jvm
    assert machine is not None
    return machine.evergrid.engine


def test_the_java_fits_this_spark(spark: SparkSession) -> None:
    with zipfile.ZipFile(engine_jar()) as jar:
        manifest = jar.read("META-INF/MANIFEST.MF").decode()
    advice = (
        f"Evergrid's Java uses internals of Spark in Expressions.java, and this is Spark"
        f" {spark.version}. Adapt that file, run make engine and commit the jar."
    )
    assert f"Spark-Version: {spark.version}\r\n" in manifest, advice
    messages = spark.createDataFrame(
        [(0, 7, b'{"id":"a"}')], "partition int, offset bigint, value binary"
    ).withColumn("timestamp", F.timestamp_micros(F.lit(KAFKA_MICROS)))
    try:
        changes = raw_changes(messages, SOURCE, "raw", "bad", LIMITS).collect()
    except (PySparkException, Py4JJavaError) as error:
        pytest.fail(f"{advice}\n{error}")
    assert [(change["topic"], bytes(change["key"])) for change in changes] == [("raw", b"0:7")]


def test_a_message_is_read_once_however_many_columns_are_taken_of_it(spark: SparkSession) -> None:
    messages = spark.range(1).select(
        F.lit(0).alias("partition"),
        F.col("id").alias("offset"),
        F.lit(b"{}").alias("value"),
        F.current_timestamp().alias("timestamp"),
    )
    changes = raw_changes(messages, SOURCE, "raw", "bad", LIMITS)
    plan = changes._jdf.queryExecution().executedPlan().toString()
    assert plan.count("static_invoke(") + plan.count("staticinvoke(") == 1, plan


def test_fields_as_members_with_nulls_written_out(spark: SparkSession) -> None:
    things, out = reader(spark), java(spark).Bytes()
    value = b'{"u":1, "money":"1e1", "id":"a\\u0022\\n", "at":0.5, "count":-0, "ratio":1e2}'
    assert things.read(value, KAFKA_MICROS)
    things.members(out)
    assert bytes(out.copy()) == (
        b'"id":"a\\"\\n","count":0,"ratio":100.0,"money":"10.00","flag":null,"at":500,"again":"-0"'
    )
    assert (things.ts(), things.unknownFields(), things.key()) == (KAFKA_MICROS, 1, None)


def test_shown_columns_have_names_of_their_own(spark: SparkSession) -> None:
    things, out = reader(spark, shown=(("b", "money"), ("a", "flag"))), java(spark).Bytes()
    assert things.read(b'{"money":12.5,"flag":"true"}', KAFKA_MICROS)
    things.shown(out)
    assert bytes(out.copy()) == b'"b":"12.50","a":true'
    out.clear()
    reader(spark).shown(out)
    assert bytes(out.copy()) == b""


def test_the_time_field_is_the_time(spark: SparkSession) -> None:
    things = reader(spark, time="at")
    assert things.read(b'{"at":"1970-01-01T00:00:01Z"}', KAFKA_MICROS)
    assert things.ts() == 1_000_000
    assert not things.read(b"{}", KAFKA_MICROS)
    assert things.flaw() == "no time: field at is missing or null"


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("id", {'"é"': "é".encode(), r'"\u00e9"': "é".encode(), "12.10": b"12.10", '""': b""}),
        ("id", {r'"a\n\""': b'a\n"', '{"b":1, "a":2}': b'{"a":2,"b":1}'}),
        ("count", {"7": b"7", '"7"': b"7", "0.7e1": b"7", "-0": b"0"}),
        ("money", {"12.5": b"12.50", '"1.25e1"': b"12.50", "-0.00": b"0.00"}),
        ("flag", {"true": b"true", '"true"': b"true"}),
        ("at", {"0": b"0", '"1970-01-01T01:00:00+01:00"': b"0"}),
        ("ratio", {"-0.0": b"0.0", "0": b"0.0", "10000000": b"1.0E7", "1e7": b"1.0E7"}),
    ],
)
def test_equal_values_are_equal_keys(
    spark: SparkSession, field: str, values: Mapping[str, bytes]
) -> None:
    things = reader(spark, key=field)
    for text, key in values.items():
        assert things.read(f'{{"{field}": {text}}}'.encode(), KAFKA_MICROS), text
        assert bytes(things.key()) == key, text
    for none in (f'{{"{field}": null}}', "{}"):
        assert things.read(none.encode(), KAFKA_MICROS)
        assert things.key() is None


def test_a_key_that_is_no_field_is_refused(spark: SparkSession) -> None:
    with pytest.raises(
        IllegalArgumentException, match="source of topic things has no field nobody"
    ):
        reader(spark, key="nobody")


def test_each_message_is_read_for_itself(spark: SparkSession) -> None:
    things, out = reader(spark, key="id"), java(spark).Bytes()
    assert things.read(b'{"id":"a","count":1,"u":1}', KAFKA_MICROS)
    assert not things.read(None, KAFKA_MICROS)
    assert things.flaw() == "tombstone"
    assert not things.read(b'{"id":"a","count":"x"}', KAFKA_MICROS)
    assert things.read(b'{"again":1}', KAFKA_MICROS)
    things.members(out)
    assert b"1" not in bytes(out.copy())
    assert (things.key(), things.unknownFields(), things.flaw()) == (None, 1, None)
