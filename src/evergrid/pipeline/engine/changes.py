"""Source messages to changes of raw tables, quarantine and joined tables, by the engine's Java.

The rules are those of docs/messages.md. A message that quarantine shows is never in a join,
because joins read by the same Java from the same specification. The Java keeps the state of joins
and writes their rows; it gets the join's specification, the messages and the ticks from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from py4j.java_gateway import JavaObject
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evergrid.config.settings import Limits
from evergrid.model.field_types import TimeUnit
from evergrid.model.join import Join, Side
from evergrid.model.source import Field, Source
from evergrid.model.table import Retention
from evergrid.pipeline.engine import engine_classes

# Powers of ten from the unit of an epoch number to a microsecond.
_PLACES = {
    TimeUnit.SECONDS: 6,
    TimeUnit.MILLISECONDS: 3,
    TimeUnit.MICROSECONDS: 0,
    TimeUnit.NANOSECONDS: -3,
}
_SIDES = (Side.LEFT, Side.RIGHT)
_MICROSECONDS = 1_000_000


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
    change = Column(expressions.raw(*_java_columns(messages), source_spec(source, limits)))
    changes = messages.select(change.alias("change"))
    topic = F.when(F.col("change.good"), F.lit(raw_topic)).otherwise(F.lit(quarantine_topic))
    return changes.select(topic.alias("topic"), "change.key", "change.value", "change.ts")


def _java_columns(messages: DataFrame) -> list[JavaObject]:
    """The columns of messages that the Java reads."""
    return [messages[name]._jc for name in ("value", "partition", "offset", "timestamp")]


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


class Joining(msgspec.Struct, frozen=True):
    """A join as a query runs it: `live` in real-time mode, else in micro-batches.

    `query` is the name under which it reports how far it is; `reducers` is the number of
    Spark's shuffle partitions.
    """

    query: str
    join: Join
    sources: Mapping[str, Source]
    retention: Retention
    limits: Limits
    reducers: int
    live: bool

    def changes(
        self, messages: DataFrame, ticks: DataFrame, table_topic: str, reports_topic: str
    ) -> DataFrame:
        """Messages of both sources, and ticks → topic, key, value."""
        spark = messages.sparkSession
        rows = self._rows(messages).unionByName(self._ticks(ticks))
        expressions = engine_classes(spark).Expressions
        joined = DataFrame(expressions.join(rows._jdf, self._spec()), spark)
        topic = F.when(F.col("topic") == 0, F.lit(table_topic)).otherwise(F.lit(reports_topic))
        return joined.select(topic.alias("topic"), "key", "value")

    def _rows(self, messages: DataFrame) -> DataFrame:
        left, right = (self._message(messages, side) for side in _SIDES)
        is_left = messages["topic"] == self._source(Side.LEFT).topic
        read = messages.select(F.when(is_left, left).otherwise(right).alias("row"))
        return read.where(F.col("row").isNotNull()).select("row.key", "row.message")

    def _message(self, messages: DataFrame, side: Side) -> Column:
        source = self._source(side)
        shown = [(column.name, column.field) for column in self.join.columns if column.side is side]
        spec = source_spec(source, self.limits, self.join.key_of(side), shown)
        expressions = engine_classes(messages.sparkSession).Expressions
        how = (spec, _SIDES.index(side), self.reducers, self.live)
        return Column(expressions.message(*_java_columns(messages), *how))

    def _ticks(self, ticks: DataFrame) -> DataFrame:
        """Each tick goes to every reducer."""
        keys = engine_classes(ticks.sparkSession).Messages.tickKeys(self.reducers)
        every = F.array(*[F.lit(bytearray(key)) for key in keys])
        return ticks.select(F.explode(every).alias("key"), F.lit(bytearray()).alias("message"))

    def _spec(self) -> str:
        sources = [self._source(side) for side in _SIDES]
        age, history = self.retention.age_seconds, self.join.history
        spec = {
            "query": self.query,
            "type": self.join.type.name,
            "live": self.live,
            "reducers": self.reducers,
            "nulls": [self._null_members(side) for side in _SIDES],
            "sources": [source.name for source in sources],
            "topics": [source.topic for source in sources],
            "age_micros": None if age is None else age * _MICROSECONDS,
            "rows": self.retention.rows,
            "history": [history.left, history.right],
            "pairs": self.join.pairs,
        }
        return msgspec.json.encode(spec).decode()

    def _null_members(self, side: Side) -> str:
        shown = [column.name for column in self.join.columns if column.side is side]
        return ",".join(f'"{name}":null' for name in shown)

    def _source(self, side: Side) -> Source:
        return self.sources[self.join.source_of(side)]
