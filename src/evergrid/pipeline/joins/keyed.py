"""The one keyed aggregation behind all joins, and the changes it gives.

Per key the state holds the latest messages of each side, each with the columns it will
show already written as JSON (`body`): the state of a key is rewritten with every event,
so a message is one short text there, not a row of typed fields, and nothing has to be
written as JSON again when a correction sends it once more.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.internal import InternalFunction

from evergrid.model.join import Join, JoinType, Side
from evergrid.model.source import Source
from evergrid.model.table import TIME_COLUMN, trace_of
from evergrid.pipeline.changes import json_members, json_of, null_members, row_id
from evergrid.pipeline.joins import RULES
from evergrid.pipeline.joins.rule import MESSAGE, KeyState


def side_messages(rows: DataFrame, join: Join, side: Side) -> DataFrame:
    """Good rows of one side → (key, message)."""
    shown = [column for column in join.columns if column.side is side]
    body = (
        json_members([F.col("row")[column.field].alias(column.name) for column in shown])
        if shown
        else F.lit(None).cast("string")
    )
    good = rows.where(F.col("flaw").isNull())
    flat = good.select(
        F.col("row")[join.key_of(side)].alias("key"),
        "ts",
        "partition",
        "offset",
        body.alias("body"),
    )
    return flat.select("key", F.struct(*MESSAGE).alias("message"))


def live_pairs(left: DataFrame, right: DataFrame, join: Join) -> DataFrame:
    """The pairs of a stream: each message creates or corrects some.

    `last` is the message that caused the output, because real-time mode gives one output
    per input; a null key keeps nothing, so nothing can ever match it.
    """
    lefts = left.select("key", F.lit(True).alias("from_left"), "message")
    rights = right.select("key", F.lit(False).alias("from_left"), "message")
    kept = F.col("key").isNotNull()
    state = (
        lefts.unionByName(rights)
        .groupBy("key")
        .agg(
            F.last("from_left").alias("from_left"),
            F.last("message").alias("event"),
            _newest(kept & F.col("from_left"), join.history.left).alias("lefts"),
            _newest(kept & ~F.col("from_left"), join.history.right).alias("rights"),
        )
    )
    pairs = RULES[join.type].live(
        KeyState(F.col("event"), F.col("from_left"), F.col("lefts"), F.col("rights"))
    )
    return state.select(F.explode(pairs).alias("pair")).select("pair.left", "pair.right")


def history_pairs(left: DataFrame, right: DataFrame, join: Join) -> DataFrame:
    """All pairs of complete sides, joined once and without a bound."""
    return RULES[join.type].history(left, right).select("left", "right")


def pair_changes(
    pairs: DataFrame, join: Join, sources: Mapping[str, Source], topic: str
) -> DataFrame:
    """Pairs → changes of the joined table, with the row's time beside them for retention."""
    left, right = F.col("left"), F.col("right")
    driving, other = (left, right) if join.driving is Side.LEFT else (right, left)
    identity = [driving["partition"], driving["offset"]]
    time = driving["ts"]
    if join.type is JoinType.INNER:
        identity += [other["partition"], other["offset"]]
        time = F.greatest(left["ts"], right["ts"])
    value = json_of(
        _body(join, Side.LEFT, left),
        _body(join, Side.RIGHT, right),
        F.concat(F.lit(f'"{TIME_COLUMN.name}":'), time),
        _trace(sources[join.left], left),
        _trace(sources[join.right], right),
    )
    return pairs.select(
        F.lit(topic).alias("topic"),
        row_id(*identity).alias("key"),
        value.alias("value"),
        time.alias("ts"),
    )


def _newest(belongs: Column, count: int) -> Column:
    """The latest `count` messages that belong, newest first.

    `collect_top_k` keeps just the messages; the public `max_by` with a count keeps a
    second copy of the order and a slot for every row that could come, which the shuffle
    and the state then carry too (docs/decisions/state.md has both measured).
    """
    return InternalFunction.collect_top_k(F.when(belongs, F.col("message")), count, False)


def _body(join: Join, side: Side, message: Column) -> Column:
    names = [column.name for column in join.columns if column.side is side]
    return F.coalesce(message["body"], null_members(names))


def _trace(source: Source, message: Column) -> Column:
    trace = trace_of(source.name)
    known = F.concat(
        F.lit(f'"{trace.topic.name}":"{source.topic}","{trace.partition.name}":'),
        message["partition"],
        F.lit(f',"{trace.offset.name}":'),
        message["offset"],
        F.lit(f',"{trace.ts.name}":'),
        message["ts"],
    )
    return F.coalesce(known, null_members(column.name for column in trace.columns))
