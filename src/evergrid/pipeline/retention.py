"""What of history is not worth writing, because the table would drop it at once."""

from __future__ import annotations

import time

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evergrid.model.table import Retention

_MICROSECONDS = 1_000_000


def worth_writing(changes: DataFrame, retention: Retention, at_most: int | None) -> DataFrame:
    """Changes young enough and among the newest; `at_most` is how many there can be, if known.

    Rows are ranked by time alone: which of two rows of one microsecond stays at the very
    edge is the store's to say, so ties there are kept.
    """
    if retention.age_seconds is not None:
        oldest = int(time.time() - retention.age_seconds) * _MICROSECONDS
        changes = changes.where(F.col("ts") >= oldest)
    if retention.rows is None or (at_most is not None and at_most <= retention.rows):
        return changes
    return changes.orderBy(F.col("ts").desc()).limit(retention.rows)
