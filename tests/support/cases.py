"""Every line of “Any bytes on a source topic”, as messages with what must become of them.

One table for all who read messages: the oracle, Spark's ingest and whoever comes next.
All cases share two sources, so that one run of a pipeline can carry all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evergrid.testing.oracle import Value

# One field of every type, in the shape that a configuration's `fields` section has.
FIELDS: Mapping[str, object] = {
    "id": "text",
    "name": "text",
    "count": "integer",
    "ratio": "float",
    "money": "decimal(10,2)",
    "units": "decimal(5,0)",
    "share": "decimal(2,2)",
    "big": "decimal(38,10)",
    "flag": "boolean",
    "at": "timestamp",
    "at_s": "timestamp(s)",
    "at_us": "timestamp(us)",
    "at_ns": "timestamp(ns)",
    "other_name": {"type": "integer", "from": "other-name"},
}

# Sections of a configuration: the first takes Kafka's time, the second a field's.
EVERY: Mapping[str, object] = {"key": "id", "time": "kafka", "fields": FIELDS}
TIMED: Mapping[str, object] = {"key": "id", "time": "at", "fields": FIELDS}

_DAY = 1_704_067_200_000_000  # 2024-01-01T00:00:00Z
_EARLIEST = -62_135_596_800_000_000
_LATEST = 253_402_300_799_999_999
_MOST_BYTES = 262_144
_NOT_JSON = "not valid JSON"
_NESTED_REPEAT = "duplicate field name in a nested object"
_NO_TIME = "no time: field at is missing or null"


@dataclass(frozen=True)
class Case:
    """`expected` is the reason for quarantine, or the columns that are not null."""

    value: bytes | None
    expected: str | Mapping[str, Value]
    unknown_fields: int = 0
    timed: bool = False

    @property
    def name(self) -> str:
        """The message, or its beginning."""
        return repr(self.value[:60] if self.value else self.value)

    @property
    def section(self) -> Mapping[str, object]:
        """The source's section of a configuration, without a topic and table."""
        return TIMED if self.timed else EVERY

    def columns(self) -> dict[str, Value]:
        """The data columns of the row that this message becomes."""
        assert not isinstance(self.expected, str), f"{self.name} goes to quarantine"
        return {column: self.expected.get(column) for column in FIELDS}


# What a column shows, and the JSON texts of which each becomes just that.
_READ: Mapping[str, Mapping[Value, Sequence[str]]] = {
    "count": {
        # A number is what its digits and exponent say, and a text of one is one.
        0: ("0", "-0", "-0.0", "0e999999999999"),
        1: ("100e-2", r'"\u0031"'),
        3: ("3", "3.0", '"3.0"', "3." + "0" * 60),
        -3: ("-3",),
        15: ("1.5e1",),
        42: ('"42"',),
        -42: ('"-42"',),
        100: ("1e2", "1E+2", '"1e2"'),
        9007199254740993: ("9007199254740993",),  # no double has it
        2**63 - 1: ("9223372036854775807", "9223372036854775807.0", '"9223372036854775807"'),
        -(2**63): ("-9223372036854775808",),
    },
    "other_name": {3: ('"3"',)},
    "ratio": {
        0.5: ("0.5",),
        3.0: ("3",),
        1.5: ('"1.5"',),
        -0.0015: ('"-1.5E-3"',),
        # The nearest double, and the even one half-way between two.
        0.1: ("0.1000000000000000055511151231257827",),
        9007199254740992.0: ("9007199254740993",),
        1.7976931348623157e308: ("1.7976931348623157e308", "1.7976931348623158e308"),
        5e-324: ("5e-324",),
        0.0: ("1e-400",),
        1.2345678901234568e29: ("123456789012345678901234567890",),
        1.1111111111111112: ("1." + "1" * 50,),
    },
    "money": {
        "12.34": ("12.34", "1.234e1", "1234e-2", '"12.34"'),
        "12.50": ("12.5",),
        "12.00": ("12",),
        "12.30": ("12.300",),  # zeros beyond the scale fit
        "-0.05": ("-0.05",),
        "0.00": ("0", "-0.00"),
        "100.00": ('"1E2"',),
        "99999999.99": ("99999999.99",),
    },
    "units": {"12345": ("12345", "12345.0"), "-7": ('"-7"',)},
    "share": {"0.50": ("0.5",), "-0.99": ("-0.99",)},
    "big": {
        "1234567890123456789012345678.0123456789": ("1234567890123456789012345678.0123456789",),
        "9007199254740993.1000000000": ("9007199254740993.1",),
    },
    "flag": {True: ("true", '"true"'), False: ("false", '"false"')},
    "at": {
        _DAY: (
            *('"2024-01-01T00:00:00Z"', '"2024-01-01 00:00:00Z"', '"2024-01-01T02:00:00+02:00"'),
            *('"2024-01-01T02:00:00+0200"', '"2023-12-31T19:00:00-05"', "1.7040672e12"),
            *('"2024-01-01T05:45:00+05:45"', '"2024-01-01T00:00:00-00:00"'),
            *('"2024-01-01T18:00:00+18:00"', '"2023-12-31T06:00:00-18:00"'),
        ),
        _DAY + 123_000: ('"2024-01-01T00:00:00.123Z"', "1704067200123"),
        _DAY + 500_000: ('"2024-01-01T00:00:00.5Z"',),
        # What is finer than a microsecond is cut off, downwards.
        _DAY + 1: ('"2024-01-01T00:00:00.000001Z"', "1704067200000.0015"),
        _DAY + 999_999: ('"2024-01-01T00:00:00.999999999Z"',),
        -1: ('"1969-12-31T23:59:59.9999999Z"',),
        _DAY + 59 * 86_400_000_000: ('"2024-02-29T00:00:00Z"',),
        0: ('"1970-01-01T00:00:00Z"', "0", "-0.0"),
        -1000: ("-1",),
        # The year 0000 may be 0001 in UTC.
        _EARLIEST: ('"0001-01-01T00:00:00Z"', '"0000-12-31T23:00:00-01:00"'),
        _LATEST: ('"9999-12-31T23:59:59.999999Z"',),
        _LATEST - 999: ("253402300799999",),
    },
    "at_s": {
        _DAY: ("1704067200",),
        _DAY + 1: ("1704067200.0000019",),
        _DAY + 500_000: ("1704067200.5",),
        0: ("1e-30",),
        _EARLIEST: ("-62135596800",),
    },
    "at_us": {_DAY + 1: ("1704067200000001",), 1: ("1.9",)},
    "at_ns": {
        _DAY: ('"2024-01-01T00:00:00Z"',),  # whatever the unit
        _DAY + 1: ("1704067200000001999",),
        -1: ("-1",),
        _LATEST: ("253402300799999999999",),
    },
    "name": {
        # A text is not trimmed, and is never null, a number or a name.
        **{text: (f'"{text}"',) for text in ("null", "", "  ", "007", "/* x */ // y", "[" * 100)},
        " Ann\t": ('" Ann\\t"',),
        '"\\/\b\f\n\r\t': (r'"\"\\\/\b\f\n\r\t"',),
        '"[[[\\': (r'"\"[[[\\"',),
        "a\x00b": (r'"a\u0000b"',),
        # Other scripts, characters beyond the basic plane, and some that one cannot see.
        **{text: (f'"{text}"',) for text in ("Zoë Łukasz 李 नेहा עדי", "👩‍🚀 𝄞")},
        **{text: (f'"{text}"',) for text in ("a\x7fb", "a\u2028b", "\ufeffx")},
        "😀": (r'"\ud83d\ude00"',),
        "é😀": (r'"\u00E9\uD83D\uDE00"',),
        # Anything else is shown as it is written, without the space around it.
        **{text: (text,) for text in ("1", "1e5", "1.0000000000000000000001000", "-0", "-0.0E+00")},
        **{text: (text,) for text in ("true", "false", '{"a": 1}', '{"b":1,"a" :2 }', "{ }")},
        **{text: (text,) for text in ('[1,  "x", null]', '{\n  "a": [\n]}', '{"name": 1}')},
        **{text: (text,) for text in (r'{"\u0061": "\n"}', '[{"a": 1}, {"a": 2}]')},
        **{text: (text,) for text in ("[" * 63 + "]" * 63, "[" + "[]," * 200 + "[]]")},
        "12": (" 12  ",),
    },
}

# What is wrong with a column's value, and the JSON texts of which this is said.
_REFUSED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "count": {
        "is not integer": (
            *('"abc"', '"null"', '""', "3.7", '"3.7"', "1e-1", "3.0000000000000000000000001"),
            *("1e-999999999999", "9223372036854775808.5", '" 1"', '"1 "', '"1\\n"', '"+1"', '"01"'),
            *('"1."', '".5"', '"0x10"', '"1_000"', '"1,000"', '"٣"', '"1L"', "true", "[1]", "{}"),
            *('"it\'s"', "NaN", '"' + "x" * 64 + '"', '"' + "é" * 65 + '"'),  # 64 are shown
        ),
        "is out of range for integer": (
            *("9223372036854775808", "-9223372036854775809", "1e19", "1e999999999999", '"1e30"'),
            "9" * 70,
        ),
    },
    "other_name": {"is not integer": ('"x"', "NaN")},
    "ratio": {
        "is not float": (
            *('"abc"', '"NaN"', '"Infinity"', '"inf"', '"1.5d"', '"1f"', '"0x1p3"', '" 1.5 "'),
            *("false", "NaN", "Infinity", "-Infinity"),
        ),
        "is out of range for float": ("1e309", "-1e309", '"1e400"'),
    },
    "money": {
        "is not decimal(10,2)": ('"x"', '"$5"', "true", "[1,2]", '"NaN"', "NaN"),
        "does not fit decimal(10,2)": (  # it is never rounded
            *("12.345", '"12.345"', "100000000", "99999999.999", "1e-3", "1e999999999999"),
        ),
    },
    "units": {"does not fit decimal(5,0)": ("0.5", "100000")},
    "share": {"does not fit decimal(2,2)": ("1",)},
    "big": {"does not fit decimal(38,10)": ("1e28",)},
    "flag": {
        "is not boolean": (
            *('"maybe"', '"yes"', '"True"', '"TRUE"', '"t"', '" true"', '"1"', '""', "1", "0"),
            *("[true]", '{"a":true}'),
        )
    },
    "at": {
        "is not timestamp(ms)": (
            # A date and time with its zone, in one format.
            *('"2024-01-01T00:00:00"', '"2024"', '"2024-01-01"', '"2024-01-01t00:00:00Z"'),
            *('"2024-01-01T00:00:00z"', '"2024-01-01  00:00:00Z"', '"2024-01-01T00:00:00 Z"'),
            *('" 2024-01-01T00:00:00Z"', '"2024-01-01T00:00:00 Europe/Paris"'),
            *('"2024-01-01T00:00:00UTC"', '"2024-01-01T00:00:00Z[UTC]"', '"20240101T000000Z"'),
            *('"2024-01-01T00:00:00.1234567890Z"', '"2024-01-01T00:00:00.Z"'),
            *('"2024-01-01T00:00:00,5Z"', '"2024-01-01T00:00.5Z"', '"2024-1-01T00:00:00Z"'),
            *('"24-01-01T00:00:00Z"', '"٢٠٢٤-01-01T00:00:00Z"', '""', '"1704067200000"', '"now"'),
            # Nothing that no calendar and no clock has, a leap second included.
            *('"2024-13-01T00:00:00Z"', '"2024-00-01T00:00:00Z"', '"2024-02-30T00:00:00Z"'),
            *('"2023-02-29T00:00:00Z"', '"2024-01-01T24:00:00Z"', '"2024-01-01T00:60:00Z"'),
            *('"2016-12-31T23:59:60Z"', '"2024-01-01T00:00:00+18:01"'),
            *('"2024-01-01T00:00:00+01:60"', '"2024-01-01T00:00:00+1"'),
            # From the year 0001 to 9999, in UTC.
            *('"+12024-01-01T00:00:00Z"', '"-0001-01-01T00:00:00Z"', '"0000-06-01T00:00:00Z"'),
            *('"0001-01-01T00:00:00+01:00"', '"9999-12-31T23:30:00-01:00"'),
            *("true", "[2024,1,1]", '{"$date":1}'),
        )
    },
    "at_s": {"is not timestamp(s)": ("253402300800", "-62135596801", "-62135596800.0000001")},
    "at_us": {"is not timestamp(us)": ("1e999999999999",)},
}

_ALL_VALUES: Sequence[Value] = (
    *("a", "Ann", 3, 0.5, "12.50", "7", "0.25", "1.5000000000", True, 1700000000000000),
    *(1700000000000000, 1700000000000001, 1700000000000002, 9),
)
# Whole objects that become rows, with the number of their unknown fields.
_ROWS: Sequence[tuple[str, int, Mapping[str, Value]]] = (
    (
        '{"id": "a", "name": "Ann", "count": 3, "ratio": 0.5, "money": 12.5, "units": 7,'
        ' "share": 0.25, "big": 1.5, "flag": true, "at": 1700000000000, "at_s": 1700000000,'
        ' "at_us": 1700000000000001, "at_ns": 1700000000000002000, "other-name": 9}',
        0,
        dict(zip(FIELDS, _ALL_VALUES, strict=True)),
    ),
    (' \t\r\n{ "id" :\n"a" , "count"\t: 1 } \r\n', 0, {"id": "a", "count": 1}),
    ('{"id":"a","count":1}', 0, {"id": "a", "count": 1}),
    # A field that is missing is null.
    ("{}", 0, {}),
    ('{"id": "a"}', 0, {"id": "a"}),
    ('{"id": "a", "name": null, "count": null, "flag": null, "at": null}', 0, {"id": "a"}),
    ('{"ratio":null,"money":null,"at_s":null,"other-name":null}', 0, {}),
    # Names are compared exactly, and only those of the message itself; the others are unknown.
    ('{"id": "a", "colour": "red"}', 1, {"id": "a"}),
    ('{"u":1,"v":[1,{"x":2}],"w":null,"x":"","y":true}', 5, {}),
    ('{"Name": "Ann", "NAME": "x"}', 2, {}),
    ('{"id": "a", "ID": "b"}', 1, {"id": "a"}),
    ('{"other_name": 3}', 1, {}),
    ('{"": 1}', 1, {}),
    ('{"id.x": 1, "$": 2}', 2, {}),
    ('{"n\\u0061me": "Ann"}', 0, {"name": "Ann"}),
    ('{"x": {"count": "abc"}}', 1, {}),
)

# Why a message is refused as a whole, and such messages. The first reason that applies is given.
_NO_ROWS: Sequence[tuple[str, Sequence[str]]] = (
    (
        "nested deeper than 64 levels",
        (
            *('{"name": ' + "[" * 64 + "]" * 64 + "}", '{"a":' * 65 + "1" + "}" * 65),
            *('{"u": ' + "[" * 64 + "]" * 64 + "}", '{"a":1,"a":' + "[" * 64 + "]" * 64 + "}"),
            # It counts brackets outside texts, also where there is no JSON.
            *("[" * 100_000, '{"a": ' + "[{" * 40, "]" * 10 + "[" * 65, '{"a": "' + "[" * 64),
        ),
    ),
    ("duplicate field name: count", ('{"count": 1, "count": 2}', '{"count": "x", "count": 1}')),
    (
        "duplicate field name: id",
        ('{"id": "a", "id": "a"}', '{"id": 1, "\\u0069d": 2}', '{"id": null, "id": null}'),
    ),
    ("duplicate field name: u", ('{"u": 1, "u": 2}', '{"u": {"a":1,"a":2}, "u": 1}')),
    ("duplicate field name: b", ('{"a": 1, "b": 2, "b": 3, "a": 4}',)),
    ("duplicate field name: ", ('{"": 1, "": 2}',)),
    (_NESTED_REPEAT, ('{"name": {"a": 1, "a": 2}}', '{"u": [{"a": 1, "a": 2}]}')),
    ("not a JSON object but an array", ('[{"id": "a"}]', "[]")),
    ("not a JSON object but a text", ('"hello"', r'"{\"id\": \"a\"}"')),
    ("not a JSON object but a number", ("42", " -1.5e3 ")),
    ("not a JSON object but a boolean", ("true",)),
    ("not a JSON object but null", ("null",)),
    (
        # All wrong fields, in the order of the configuration.
        "count: '3.5' is not integer; money: 'x' is not decimal(10,2); flag: '2' is not boolean",
        ('{"flag": 2, "money": "x", "count": 3.5}',),
    ),
    (
        "count: 'Infinity' is not integer; ratio: 'NaN' is not float",
        ('{"id": "NaN", "ratio": NaN , "count":Infinity}',),
    ),
    ("count: 'b' is not integer", ('{"id": "a", "count": "b", "ratio": 1}',)),
    (
        _NOT_JSON,
        (
            *("hello there", "x", "   ", "\n", "\x00", '{"id": "a"}\x00', "]" * 10 + "[" * 64),
            # Commas, colons, names and values
            *('{"id": "a",}', '{"name": [1,]}', '{,"id": "a"}', '{"id": "a",,"name": "b"}'),
            *('{"id": "a" "name": "b"}', '{"id" "a"}', '{"id": }', '{"id"}', "{'id': 'a'}"),
            *('{id: "a"}', '{1: "a"}', '{"id": 1, "id": 2'),
            *('{"id": /* x */ "a"}', '{"id": "a"} // x', '# x\n{"id": "a"}'),
            # Cut off, or more than one value
            *('{"id": "a"', '{"id": "a', '{"flag": tru}', '{"flag": truee}', '{"flag": True}'),
            *('{"flag": None}', '{"flag": undefined}', '{"id": "a"}{"id": "b"}'),
            *('{"id": "a"}\n{"id": "b"}', '{"id": "a"} x', 'x {"id": "a"}', '{"id": "a"}}'),
            '{"id": "a"]',
            # White space that JSON does not know, and control characters
            *('\ufeff{"id": "a"}', '{"id":\u00a0"a"}', '\f{"id": "a"}', '{"id":\v"a"}'),
            *('{"id":\u2028"a"}', '{"id": "a\tb"}', '{"id": "a\nb"}', '{"id": "a\x00b"}'),
            '{"i\x01d": "a"}',
            # Escapes, and halves of a surrogate pair
            *(r'{"id": "\x41"}', r'{"id": "\'"}', r'{"id": "\U0041"}', r'{"id": "\u12"}'),
            *(r'{"id": "\u12G4"}', '{"id": "a\\"}', r'{"name": "a\ud800b"}'),
            r'{"name": "\ude00\ud83d"}',
            # Numbers
            *('{"count": 01}', '{"count": -01}', '{"count": +1}', '{"count": 1.}', '{"count": .5}'),
            *('{"count": 1e}', '{"count": 1e+}', '{"count": -}', '{"count": 1.2.3}'),
            *('{"count": 0x10}', '{"count": 1_000}', '{"count": 1L}', '{"count": ٣}'),
            # NaN where no number is due, and what looks like it
            *("NaN", "[NaN]", '{"name": NaN}', '{"flag": NaN}', '{"at": NaN}', '{"u": NaN}'),
            *('{"count": [NaN]}', '{"ratio": nan}', '{"ratio": inf}', '{"ratio": +Infinity}'),
            *('{"ratio": -INF}', '{"ratio": -NaN}', '{"ratio": NaNs}', '{"ratio": NaN,}'),
        ),
    ),
)


def _sized(size: int) -> bytes:
    return b'{"id": "' + b"x" * (size - 10) + b'"}'


_BYTES: Sequence[Case] = (
    Case(None, "tombstone"),
    Case(b"", "empty value"),
    Case(_sized(_MOST_BYTES), {"id": "x" * (_MOST_BYTES - 10)}),
    Case(_sized(_MOST_BYTES + 1), "too large: 262145 bytes, limit 262144"),
    Case(_sized(300_000), "too large: 300000 bytes, limit 262144"),
    Case(b"\xff" * 300_000, "too large: 300000 bytes, limit 262144"),
    Case('{"id": "a"}'.encode("utf-16-le"), _NOT_JSON),
)
# Cut, overlong, surrogates, beyond Unicode; Latin-1; UTF-16 with its mark
_NOT_UTF8 = (
    *(b'{"id": "\xff"}', b'{"id": "\xc3"}', b'{"id": "\xc0\xaf"}', b'{"id": "\xed\xa0\x80"}'),
    *(b'{"id": "\xf4\x90\x80\x80"}', '{"id": "é"}'.encode("latin-1")),
    *('{"id": "a"}'.encode("utf-16"), b"{}\x80", b"[" * 100 + b"\xff"),
)
# Of a source that takes its rows' time from a field
_TIMED: Sequence[tuple[str, str | Mapping[str, Value]]] = (
    ('{"id": "a", "at": "2024-01-01T00:00:00Z"}', {"id": "a", "at": _DAY}),
    ('{"id": "a", "at": 5}', {"id": "a", "at": 5000}),
    ('{"id": "a"}', _NO_TIME),
    ('{"id": "a", "at": null}', _NO_TIME),
    ("{}", _NO_TIME),
    ('{"id": "a", "at": "noon"}', "at: 'noon' is not timestamp(ms)"),
    ('{"count": "x"}', "count: 'x' is not integer"),
)


def _of_columns() -> Iterator[Case]:
    """Messages with one field each."""
    for column, values in _READ.items():
        for value, texts in values.items():
            yield from (Case(_message(column, text), {column: value}) for text in texts)
    for column, verdicts in _REFUSED.items():
        for verdict, texts in verdicts.items():
            for text in texts:
                shown = json.loads(text) if text.startswith('"') else text
                shown = shown if len(shown) <= 64 else shown[:64] + "…"
                yield Case(_message(column, text), f"{_json_name(column)}: '{shown}' {verdict}")


def _message(column: str, text: str) -> bytes:
    return f'{{"{_json_name(column)}": {text}}}'.encode()


def _json_name(column: str) -> str:
    return "other-name" if column == "other_name" else column


CASES: tuple[Case, ...] = (
    *_of_columns(),
    *(Case(text.encode(), columns, unknown) for text, unknown, columns in _ROWS),
    *(Case(text.encode(), reason) for reason, texts in _NO_ROWS for text in texts),
    *_BYTES,
    *(Case(value, "not valid UTF-8") for value in _NOT_UTF8),
    *(Case(text.encode(), expected, timed=True) for text, expected in _TIMED),
)
