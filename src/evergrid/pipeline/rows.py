"""Every message of a source as one line: its place, its time, and a row or a flaw.

Ingest and joins read messages through this one function, so a message that
quarantine shows is never in a join, and the other way round.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evergrid.config.settings import Limits
from evergrid.model.source import Source
from evergrid.model.types import Kind
from evergrid.pipeline import document
from evergrid.pipeline.fields import as_written, field_text, read_field

_NUMERIC = (Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL)


def read_rows(messages: DataFrame, source: Source, limits: Limits) -> DataFrame:
    """Kafka messages → partition, offset, kafka_ts, ts, text, flaw, row (a struct of fields).

    Times are microseconds. Where `flaw` is set, `row` and `ts` mean nothing.
    Each step is a projection of its own so that Spark computes it once.
    """
    opened = messages.select(
        F.col("partition"),
        F.col("offset"),
        F.unix_micros("timestamp").alias("kafka_ts"),
        F.col("value"),
        F.col("value").cast("string").alias("text"),
    )
    checked = opened.withColumn(
        "envelope", document.envelope_flaw(F.col("value"), F.col("text"), limits)
    )
    parsed = checked.withColumn(
        "document", F.when(F.col("envelope").isNull(), document.sealed(F.col("text")))
    )
    judged = parsed.withColumn("broken", _broken(source))
    named = judged.withColumn("texts", F.when(F.col("broken").isNull(), _texts(source)))
    written = named.withColumn("texts", F.when(F.col("broken").isNull(), _as_written(source)))
    typed = written.withColumn("fields", F.when(F.col("broken").isNull(), _fields(source)))
    return typed.select(
        "partition",
        "offset",
        "kafka_ts",
        _time(source).alias("ts"),
        "text",
        F.coalesce(F.col("broken"), _field_flaws(source), _time_flaw(source)).alias("flaw"),
        F.struct(*[_value(field.name).alias(field.name) for field in source.fields]).alias("row"),
    )


def unknown_fields(text: Column, source: Source) -> Column:
    """How many names of the message's object the source does not know."""
    known = F.array(*[F.lit(field.from_json) for field in source.fields])
    return F.size(F.array_except(F.json_object_keys(text), known))


def _broken(source: Source) -> Column:
    numeric = [
        (field.from_json, str(field.type)) for field in source.fields if field.type.kind in _NUMERIC
    ]
    return F.coalesce(
        F.col("envelope"), document.document_flaw(F.col("document"), F.col("text"), numeric)
    )


def _texts(source: Source) -> Column:
    document = F.col("document")
    return F.struct(*[field_text(document, field).alias(field.name) for field in source.fields])


def _as_written(source: Source) -> Column:
    document, message, texts = F.col("document"), F.col("text"), F.col("texts")
    return F.struct(
        *[
            as_written(document, message, texts[field.name], field).alias(field.name)
            for field in source.fields
        ]
    )


def _fields(source: Source) -> Column:
    readings = {
        field.name: read_field(F.col("document"), F.col("texts")[field.name], field)
        for field in source.fields
    }
    return F.struct(
        *[
            F.struct(reading.value.alias("value"), reading.flaw.alias("flaw")).alias(name)
            for name, reading in readings.items()
        ]
    )


def _value(name: str) -> Column:
    return F.col("fields")[name]["value"]


def _field_flaws(source: Source) -> Column:
    flaws = F.concat_ws("; ", *[F.col("fields")[field.name]["flaw"] for field in source.fields])
    return F.when(flaws != "", flaws)


def _time(source: Source) -> Column:
    return _value(source.time_field) if source.time_field else F.col("kafka_ts")


def _time_flaw(source: Source) -> Column:
    if not source.time_field:
        return F.lit(None).cast("string")
    name = source.field(source.time_field).from_json
    return F.when(_time(source).isNull(), F.lit(f"no time: field {name} is missing or null"))
