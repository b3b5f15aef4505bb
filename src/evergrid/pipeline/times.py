"""Timestamps as sources write them, as microseconds since the epoch, UTC."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from evergrid.model.types import TimeUnit
from evergrid.pipeline.numerals import is_number

_ISO = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)\z"
)
_EARLIEST = -62_135_596_800_000_000  # 0001-01-01T00:00:00Z: what every client can show
_LATEST = 253_402_300_799_999_999  # 9999-12-31T23:59:59.999999Z

_MICROSECONDS_IN = {
    TimeUnit.SECONDS: "1000000",
    TimeUnit.MILLISECONDS: "1000",
    TimeUnit.MICROSECONDS: "1",
    TimeUnit.NANOSECONDS: "0.001",
}


def to_microseconds(text: Column, quoted: Column, unit: TimeUnit) -> Column:
    """The time that `text` means; null when it means none.

    `quoted` tells ISO text from an epoch number: digits inside quotes are neither.
    """
    iso = F.when(text.rlike(_ISO), F.unix_micros(text.try_cast("timestamp")))
    factor = F.lit(_MICROSECONDS_IN[unit]).cast("decimal(10,3)")
    epoch = F.floor(text.try_cast("decimal(38,15)") * factor).try_cast("bigint")
    value = F.when(quoted, iso).when(is_number(text), epoch)
    return F.when(value.between(_EARLIEST, _LATEST), value)
