"""Rows as changes: the Kafka key and the JSON value that the changelog carries.

The counterpart on the reading side is `evergrid.changelog.codec`; both follow
docs/changelog.md. Times are integers (microseconds), decimals are texts, nulls are
written out.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from evergrid.model.table import ID_SEPARATOR

_WITH_NULLS = {"ignoreNullFields": "false"}


def row_id(*parts: Column) -> Column:
    """The row's identity: its parts, joined."""
    return F.concat_ws(ID_SEPARATOR, *parts)


def json_object(columns: Iterable[Column]) -> Column:
    """One JSON object with the columns under their names."""
    return F.to_json(F.struct(*columns), _WITH_NULLS)


def json_members(columns: Iterable[Column]) -> Column:
    """The members of that object without its braces, so that objects can be put together."""
    whole = json_object(columns)
    return F.substring(whole, F.lit(2), F.length(whole) - 2)


def json_of(*members: Column) -> Column:
    """An object from members that are written already; null ones are left out."""
    return F.concat(F.lit("{"), F.concat_ws(",", *members), F.lit("}"))


def null_members(names: Iterable[str]) -> Column:
    """Members that say null for each name; null itself when there is none."""
    text = ",".join(f'"{name}":null' for name in names)
    return F.lit(text or None).cast("string")
