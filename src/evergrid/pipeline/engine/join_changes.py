"""Joins source messages to changes of a joined table, by the engine's Java.

The Java keeps the state and writes the rows. This module passes it the join's specification, the
messages and the ticks.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evergrid.config.settings import Limits
from evergrid.model.join import Join, Side
from evergrid.model.source import Source
from evergrid.model.table import Retention
from evergrid.pipeline.engine import engine_classes
from evergrid.pipeline.engine.raw_changes import java_columns, source_spec

_SIDES = (Side.LEFT, Side.RIGHT)
_MICROSECONDS = 1_000_000
_JOINED = 1  # the first byte of a key that is joined


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

    def pairs(self, messages: DataFrame) -> DataFrame:
        """Messages of both sources → key, left, right, pairs: for each key how many there are of
        each side, and how many rows an inner join makes of them at the most.

        Messages older than twice the table's age make none.
        """
        side, ts = F.substring("message", 1, 1), F.substring("message", 2, 8)
        kind, key = F.substring("key", 1, 1), F.expr("substring(key, 2)").cast("string")
        rows = self._rows(messages).where(kind == F.lit(bytearray([_JOINED])))
        if self.retention.age_seconds is not None:
            oldest = max(0, int(time.time()) - 2 * self.retention.age_seconds) * _MICROSECONDS
            rows = rows.where(ts >= F.lit(bytearray(oldest.to_bytes(8))))
        is_left = side == F.lit(bytearray([_SIDES.index(Side.LEFT)]))
        counts = rows.groupBy(key.alias("key")).agg(
            F.count_if(is_left).alias("left"), F.count_if(~is_left).alias("right")
        )
        left, right = F.col("left").cast("double"), F.col("right")
        limited = (left + right) * self.join.pairs
        return counts.select("key", "left", "right", F.least(left * right, limited).alias("pairs"))

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
        return Column(expressions.message(*java_columns(messages), *how))

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
            "backlog_pairs": self.join.backlog_pairs,
        }
        return msgspec.json.encode(spec).decode()

    def _null_members(self, side: Side) -> str:
        shown = [column.name for column in self.join.columns if column.side is side]
        return ",".join(f'"{name}":null' for name in shown)

    def _source(self, side: Side) -> Source:
        return self.sources[self.join.source_of(side)]
