"""Left: one row per left message, with the latest right message of its key."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evergrid.pipeline.joins.rule import KeyState, latest, pair, pairs_with


class Left:
    def live(self, state: KeyState) -> Column:
        newest = latest(state.rights)
        own_row = F.array(pair(state.event, newest))
        all_rows = pairs_with(state.lefts, state.event, event_is_left=False)
        return F.when(state.from_left, own_row).when(newest == state.event, all_rows)

    def history(self, left: DataFrame, right: DataFrame) -> DataFrame:
        newest = right.groupBy("key").agg(F.max("message").alias("right"))
        lefts = left.select("key", F.col("message").alias("left"))
        return lefts.join(newest, on="key", how="left").select("left", "right")
