"""As-of: one row per right message, with the latest left message not newer than it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from evergrid.pipeline.joins.rule import KeyState, latest, pair, pairs_with


class AsOf:
    def live(self, state: KeyState) -> Column:
        def match(right: Column) -> Column:
            return latest(F.filter(state.lefts, lambda left: left["ts"] <= right["ts"]))

        own_row = F.array(pair(match(state.event), state.event))
        corrected = F.filter(state.rights, lambda right: match(right) == state.event)
        corrections = pairs_with(corrected, state.event, event_is_left=True)
        return F.when(state.from_left, corrections).otherwise(own_row)

    def history(self, left: DataFrame, right: DataFrame) -> DataFrame:
        """One sorted pass per key; no pairs are ever built.

        At equal time the left message sorts first, because equal time matches.
        """
        lefts = left.select("key", F.lit(0).alias("side"), F.col("message"))
        rights = right.select("key", F.lit(1).alias("side"), F.col("message"))
        so_far = (
            Window.partitionBy("key")
            .orderBy("message.ts", "side", "message.partition", "message.offset")
            .rowsBetween(Window.unboundedPreceding, Window.currentRow)
        )
        seen = F.last(F.when(F.col("side") == 0, F.col("message")), ignorenulls=True).over(so_far)
        match = F.when(F.col("key").isNotNull(), seen)
        matched = lefts.unionByName(rights).select("side", "message", match.alias("left"))
        return matched.where(F.col("side") == 1).select("left", F.col("message").alias("right"))
