"""Inner: one row for each pair of a left and a right message with the same key."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evergrid.pipeline.joins.rule import KeyState, pairs_with


class Inner:
    def live(self, state: KeyState) -> Column:
        return F.when(
            state.from_left, pairs_with(state.rights, state.event, event_is_left=True)
        ).otherwise(pairs_with(state.lefts, state.event, event_is_left=False))

    def history(self, left: DataFrame, right: DataFrame) -> DataFrame:
        lefts = left.select("key", F.col("message").alias("left"))
        rights = right.select("key", F.col("message").alias("right"))
        return lefts.join(rights, on="key", how="inner").select("left", "right")
