"""Ingest: every message of a source becomes a row of its table or an entry in quarantine."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evergrid.config.settings import Limits
from evergrid.model.source import Source
from evergrid.model.table import (
    OFFSET_COLUMN,
    PARTITION_COLUMN,
    TIME_COLUMN,
    UNKNOWN_FIELDS_COLUMN,
)
from evergrid.pipeline.changes import json_object, row_id
from evergrid.pipeline.rows import unknown_fields


def ingest_changes(
    rows: DataFrame, source: Source, raw_topic: str, quarantine_topic: str, limits: Limits
) -> DataFrame:
    """Rows → one change each, of the raw table or of quarantine; `ts` beside for retention.

    One pass decides between the two topics, because a stream that was split would read
    its source twice.
    """
    good = F.col("flaw").isNull()
    place = [F.col("partition"), F.col("offset")]
    return rows.select(
        F.when(good, F.lit(raw_topic)).otherwise(F.lit(quarantine_topic)).alias("topic"),
        F.when(good, row_id(*place)).otherwise(row_id(F.lit(source.topic), *place)).alias("key"),
        F.when(good, _row_json(source)).otherwise(_quarantine_json(source, limits)).alias("value"),
        F.when(good, F.col("ts")).otherwise(F.col("kafka_ts")).alias("ts"),
    )


def _row_json(source: Source) -> Column:
    return json_object(
        [
            *[F.col("row")[field.name].alias(field.name) for field in source.fields],
            F.col("ts").alias(TIME_COLUMN.name),
            *_place(),
            unknown_fields(F.col("text"), source).alias(UNKNOWN_FIELDS_COLUMN.name),
        ]
    )


def _quarantine_json(source: Source, limits: Limits) -> Column:
    shown = F.left(F.make_valid_utf8(F.col("text")), F.lit(limits.quarantine_characters))
    return json_object(
        [
            F.lit(source.topic).alias("topic"),
            F.col("flaw").alias("reason"),
            shown.alias("text"),
            F.col("kafka_ts").alias(TIME_COLUMN.name),
            *_place(),
        ]
    )


def _place() -> list[Column]:
    return [
        F.col("partition").alias(PARTITION_COLUMN.name),
        F.col("offset").alias(OFFSET_COLUMN.name),
    ]
