"""Parses source messages to changes of the raw table or of quarantine, by the engine's Java.

The rules are those of docs/messages.md. A message that quarantine shows is never in a join,
because joins read by the same Java from the same specification.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from py4j.java_gateway import JavaObject
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evergrid.config.settings import Limits
from evergrid.model.field_types import TimeUnit
from evergrid.model.source import Field, Source
from evergrid.pipeline.engine import engine_classes

# Powers of ten from the unit of an epoch number to a microsecond.
_PLACES = {
    TimeUnit.SECONDS: 6,
    TimeUnit.MILLISECONDS: 3,
    TimeUnit.MICROSECONDS: 0,
    TimeUnit.NANOSECONDS: -3,
}


def source_spec(
    source: Source, limits: Limits, key: str = "", shown: Iterable[tuple[str, str]] = ()
) -> str:
    """The specification of a source for the Java reader, as JSON.

    `key` is the field that a join compares. `shown` are the columns that the join shows of
    this source, each as (name of the column, name of the field).
    """
    spec = {
        "topic": source.topic,
        "fields": [_field_spec(field) for field in source.fields],
        "time": source.time_field,
        "key": key,
        "shown": [{"name": name, "field": field} for name, field in shown],
        "messageBytes": limits.message_bytes,
        "nesting": limits.nesting,
        "quarantineCharacters": limits.quarantine_characters,
    }
    return msgspec.json.encode(spec).decode()


def raw_changes(
    messages: DataFrame, source: Source, raw_topic: str, quarantine_topic: str, limits: Limits
) -> DataFrame:
    """Kafka messages → one change each: topic, key, value, and `ts` beside for retention.

    One pass decides between the two topics, because a stream that was split would read its
    source twice.
    """
    expressions = engine_classes(messages.sparkSession).Expressions
    change = Column(expressions.raw(*java_columns(messages), source_spec(source, limits)))
    changes = messages.select(change.alias("change"))
    topic = F.when(F.col("change.good"), F.lit(raw_topic)).otherwise(F.lit(quarantine_topic))
    return changes.select(topic.alias("topic"), "change.key", "change.value", "change.ts")


def _field_spec(field: Field) -> dict[str, str | int]:
    return {
        "name": field.name,
        "from": field.from_json,
        "kind": field.type.kind.name,
        "type": str(field.type),
        "precision": field.type.precision,
        "scale": field.type.scale,
        "places": _PLACES[field.type.unit],
    }


def java_columns(messages: DataFrame) -> list[JavaObject]:
    """The columns of messages that the Java reads."""
    return [messages[name]._jc for name in ("value", "partition", "offset", "timestamp")]
