"""Timestamps, and the time of a row that its source takes from a field."""

from __future__ import annotations

from dataclasses import replace

from evergrid.testing.cases.case import TIMED, Case, bad, row

_DAY = 1_704_067_200_000_000  # 2024-01-01T00:00:00Z
_EARLIEST = -62_135_596_800_000_000
_LATEST = 253_402_300_799_999_999


def _iso(name: str, text: str, microseconds: int) -> Case:
    return row(name, '{"at": "' + text + '"}', at=microseconds)


def _not(name: str, text: str) -> Case:
    return bad(name, '{"at": "' + text + '"}', f"at: '{text}' is not timestamp(ms)")


_TEXTS: tuple[Case, ...] = (
    _iso("ISO with Z", "2024-01-01T00:00:00Z", _DAY),
    _iso("ISO with a space", "2024-01-01 00:00:00Z", _DAY),
    _iso("ISO with milliseconds", "2024-01-01T00:00:00.123Z", _DAY + 123_000),
    _iso("ISO with one digit", "2024-01-01T00:00:00.5Z", _DAY + 500_000),
    _iso("ISO with microseconds", "2024-01-01T00:00:00.000001Z", _DAY + 1),
    _iso("nanoseconds are cut off", "2024-01-01T00:00:00.999999999Z", _DAY + 999_999),
    _iso("nanoseconds before 1970 are cut off", "1969-12-31T23:59:59.9999999Z", -1),
    _iso("offset with a colon", "2024-01-01T02:00:00+02:00", _DAY),
    _iso("offset without a colon", "2024-01-01T02:00:00+0200", _DAY),
    _iso("offset in hours", "2023-12-31T19:00:00-05", _DAY),
    _iso("offset with minutes", "2024-01-01T05:45:00+05:45", _DAY),
    _iso("offset of nothing", "2024-01-01T00:00:00-00:00", _DAY),
    _iso("largest offset", "2024-01-01T18:00:00+18:00", _DAY),
    _iso("smallest offset", "2023-12-31T06:00:00-18:00", _DAY),
    _iso("leap day", "2024-02-29T00:00:00Z", _DAY + 59 * 86_400_000_000),
    _iso("epoch", "1970-01-01T00:00:00Z", 0),
    _iso("first moment", "0001-01-01T00:00:00Z", _EARLIEST),
    _iso("last moment", "9999-12-31T23:59:59.999999Z", _LATEST),
    _iso("year 0000 that is 0001 in UTC", "0000-12-31T23:00:00-01:00", _EARLIEST),
    _not("no zone", "2024-01-01T00:00:00"),
    _not("year alone", "2024"),
    _not("date alone", "2024-01-01"),
    _not("small t", "2024-01-01t00:00:00Z"),
    _not("small z", "2024-01-01T00:00:00z"),
    _not("two spaces", "2024-01-01  00:00:00Z"),
    _not("space before the zone", "2024-01-01T00:00:00 Z"),
    _not("space around", " 2024-01-01T00:00:00Z"),
    _not("named zone", "2024-01-01T00:00:00 Europe/Paris"),
    _not("UTC by name", "2024-01-01T00:00:00UTC"),
    _not("zone in brackets", "2024-01-01T00:00:00Z[UTC]"),
    _not("ten digits of a second", "2024-01-01T00:00:00.1234567890Z"),
    _not("point without digits", "2024-01-01T00:00:00.Z"),
    _not("comma for the point", "2024-01-01T00:00:00,5Z"),
    _not("fraction of a minute", "2024-01-01T00:00.5Z"),
    _not("basic format", "20240101T000000Z"),
    _not("month 13", "2024-13-01T00:00:00Z"),
    _not("month 0", "2024-00-01T00:00:00Z"),
    _not("30 February", "2024-02-30T00:00:00Z"),
    _not("29 February of a common year", "2023-02-29T00:00:00Z"),
    _not("hour 24", "2024-01-01T24:00:00Z"),
    _not("minute 60", "2024-01-01T00:60:00Z"),
    _not("leap second", "2016-12-31T23:59:60Z"),
    _not("offset over 18 hours", "2024-01-01T00:00:00+18:01"),
    _not("offset with minute 60", "2024-01-01T00:00:00+01:60"),
    _not("offset of one digit", "2024-01-01T00:00:00+1"),
    _not("two-digit year", "24-01-01T00:00:00Z"),
    _not("five-digit year", "+12024-01-01T00:00:00Z"),
    _not("negative year", "-0001-01-01T00:00:00Z"),
    _not("year 0000", "0000-06-01T00:00:00Z"),
    _not("year 0000 in UTC", "0001-01-01T00:00:00+01:00"),
    _not("year 10000 in UTC", "9999-12-31T23:30:00-01:00"),
    _not("one-digit month", "2024-1-01T00:00:00Z"),
    _not("digits of another script", "٢٠٢٤-01-01T00:00:00Z"),
    _not("empty text", ""),
    _not("number as text", "1704067200000"),
    _not("word", "now"),
)

_NUMBERS: tuple[Case, ...] = (
    row("epoch in milliseconds", '{"at": 1704067200123}', at=_DAY + 123_000),
    row("epoch in seconds", '{"at_s": 1704067200}', at_s=_DAY),
    row("epoch in microseconds", '{"at_us": 1704067200000001}', at_us=_DAY + 1),
    row("epoch in nanoseconds", '{"at_ns": 1704067200000001999}', at_ns=_DAY + 1),
    row("fraction of a second", '{"at_s": 1704067200.5}', at_s=_DAY + 500_000),
    row("fraction is cut at the microsecond", '{"at_s": 1704067200.0000019}', at_s=_DAY + 1),
    row("fraction of a millisecond", '{"at": 1704067200000.0015}', at=_DAY + 1),
    row("fraction of a microsecond", '{"at_us": 1.9}', at_us=1),
    row("epoch with exponent", '{"at": 1.7040672e12}', at=_DAY),
    row("epoch zero", '{"at": 0}', at=0),
    row("epoch minus zero", '{"at": -0.0}', at=0),
    row("before 1970", '{"at": -1}', at=-1000),
    row("before 1970, cut downwards", '{"at_ns": -1}', at_ns=-1),
    row("just after 1970", '{"at_s": 1e-30}', at_s=0),
    row("first moment in seconds", '{"at_s": -62135596800}', at_s=_EARLIEST),
    row("last moment in milliseconds", '{"at": 253402300799999}', at=_LATEST - 999),
    row("last moment in nanoseconds", '{"at_ns": 253402300799999999999}', at_ns=_LATEST),
    row("ISO text whatever the unit", '{"at_ns": "2024-01-01T00:00:00Z"}', at_ns=_DAY),
    bad(
        "after the year 9999", '{"at_s": 253402300800}', "at_s: '253402300800' is not timestamp(s)"
    ),
    bad(
        "before the year 0001", '{"at_s": -62135596801}', "at_s: '-62135596801' is not timestamp(s)"
    ),
    bad(
        "a trace before the year 0001",
        '{"at_s": -62135596800.0000001}',
        "at_s: '-62135596800.0000001' is not timestamp(s)",
    ),
    bad("vast epoch", '{"at_us": 1e999999999999}', "at_us: '1e999999999999' is not timestamp(us)"),
    bad("boolean for a timestamp", '{"at": true}', "at: 'true' is not timestamp(ms)"),
    bad("array for a timestamp", '{"at": [2024,1,1]}', "at: '[2024,1,1]' is not timestamp(ms)"),
    bad(
        "object for a timestamp",
        '{"at": {"$date":1}}',
        "at: '{\"$date\":1}' is not timestamp(ms)",
    ),
)

_ROW_TIMES: tuple[Case, ...] = (
    row(
        "the field is the row's time", '{"id": "a", "at": "2024-01-01T00:00:00Z"}', id="a", at=_DAY
    ),
    row("an epoch is the row's time", '{"id": "a", "at": 5}', id="a", at=5000),
    bad("no time", '{"id": "a"}', "no time: field at is missing or null"),
    bad("null time", '{"id": "a", "at": null}', "no time: field at is missing or null"),
    bad("wrong time", '{"id": "a", "at": "noon"}', "at: 'noon' is not timestamp(ms)"),
    bad("a wrong field comes before no time", '{"count": "x"}', "count: 'x' is not integer"),
    bad("empty object has no time", "{}", "no time: field at is missing or null"),
)

CASES = _TEXTS + _NUMBERS + tuple(replace(case, source=TIMED) for case in _ROW_TIMES)
