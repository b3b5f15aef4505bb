"""Messages that are refused as a whole, and which of several reasons is given."""

from __future__ import annotations

from evergrid.testing.cases.case import Case, bad, row

_NOT_JSON = "not valid JSON"
_NOT_UTF8 = "not valid UTF-8"
_NESTED = "nested deeper than 64 levels"
_NESTED_REPEAT = "duplicate field name in a nested object"
_LIMIT = 262_144


def _sized(size: int) -> bytes:
    return b'{"id": "' + b"x" * (size - 10) + b'"}'


_BYTES: tuple[Case, ...] = (
    bad("null value", None, "tombstone"),
    bad("empty value", b"", "empty value"),
    Case("exactly as large as allowed", _sized(_LIMIT), {"id": "x" * (_LIMIT - 10)}),
    bad("one byte too large", _sized(_LIMIT + 1), "too large: 262145 bytes, limit 262144"),
    bad("too large", _sized(300_000), "too large: 300000 bytes, limit 262144"),
    bad("too large and not UTF-8", b"\xff" * 300_000, "too large: 300000 bytes, limit 262144"),
    bad("a byte that UTF-8 never has", b'{"id": "\xff"}', _NOT_UTF8),
    bad("a cut character", b'{"id": "\xc3"}', _NOT_UTF8),
    bad("an overlong character", b'{"id": "\xc0\xaf"}', _NOT_UTF8),
    bad("an encoded surrogate", b'{"id": "\xed\xa0\x80"}', _NOT_UTF8),
    bad("beyond Unicode", b'{"id": "\xf4\x90\x80\x80"}', _NOT_UTF8),
    bad("Latin-1", '{"id": "é"}'.encode("latin-1"), _NOT_UTF8),
    bad("UTF-16 with its mark", '{"id": "a"}'.encode("utf-16"), _NOT_UTF8),
    bad("UTF-16 without its mark", '{"id": "a"}'.encode("utf-16-le"), _NOT_JSON),
    bad("not UTF-8 behind an object", b"{}\x80", _NOT_UTF8),
    bad("not UTF-8 and nested", b"[" * 100 + b"\xff", _NOT_UTF8),
)

_NESTING: tuple[Case, ...] = (
    row("64 levels", '{"name": ' + "[" * 63 + "]" * 63 + "}", name="[" * 63 + "]" * 63),
    row("wide is not deep", '{"name": [' + "[]," * 200 + "[]]}", name="[" + "[]," * 200 + "[]]"),
    bad("65 levels", '{"name": ' + "[" * 64 + "]" * 64 + "}", _NESTED),
    bad("65 levels of objects", '{"a":' * 65 + "1" + "}" * 65, _NESTED),
    bad("deep in an unknown field", '{"u": ' + "[" * 64 + "]" * 64 + "}", _NESTED),
    bad("a very deep array", "[" * 100_000, _NESTED),
    bad("deep and broken", '{"a": ' + "[{" * 40, _NESTED),
    bad("deep and repeated", '{"a":1,"a":' + "[" * 64 + "]" * 64 + "}", _NESTED),
    bad("closed more than opened", "]" * 10 + "[" * 65, _NESTED),
    bad("closing first does not lend depth", "]" * 10 + "[" * 64, _NOT_JSON),
    bad("brackets in a text that never ends", '{"a": "' + "[" * 64, _NESTED),
)

_REPEATS: tuple[Case, ...] = (
    bad("repeated name", '{"count": 1, "count": 2}', "duplicate field name: count"),
    bad("repeated with the same value", '{"id": "a", "id": "a"}', "duplicate field name: id"),
    bad("repeated unknown name", '{"u": 1, "u": 2}', "duplicate field name: u"),
    bad("repeated by an escape", '{"id": 1, "\\u0069d": 2}', "duplicate field name: id"),
    bad("the first that repeats", '{"a": 1, "b": 2, "b": 3, "a": 4}', "duplicate field name: b"),
    bad("repeated empty name", '{"": 1, "": 2}', "duplicate field name: "),
    bad("repeated null", '{"id": null, "id": null}', "duplicate field name: id"),
    bad("repeated inside", '{"name": {"a": 1, "a": 2}}', _NESTED_REPEAT),
    bad("repeated inside an unknown field", '{"u": [{"a": 1, "a": 2}]}', _NESTED_REPEAT),
    bad("repeated inside an array", '{"u": [{"a": 1, "a": 2}]}', _NESTED_REPEAT),
    bad("outside before inside", '{"u": {"a":1,"a":2}, "u": 1}', "duplicate field name: u"),
    bad(
        "repeated before wrong fields", '{"count": "x", "count": 1}', "duplicate field name: count"
    ),
    bad("repeated in a broken text", '{"id": 1, "id": 2', _NOT_JSON),
    row("names that differ by case", '{"id": "a", "ID": "b"}', 1, id="a"),
)

_BROKEN: tuple[Case, ...] = tuple(
    bad(name, value, _NOT_JSON)
    for name, value in (
        ("plain words", "hello there"),
        ("one letter", "x"),
        ("blank", "   "),
        ("a line end", "\n"),
        ("NUL byte", "\x00"),
        ("NUL after an object", '{"id": "a"}\x00'),
        ("trailing comma", '{"id": "a",}'),
        ("trailing comma in an array", '{"name": [1,]}'),
        ("leading comma", '{,"id": "a"}'),
        ("two commas", '{"id": "a",,"name": "b"}'),
        ("missing comma", '{"id": "a" "name": "b"}'),
        ("missing colon", '{"id" "a"}'),
        ("missing value", '{"id": }'),
        ("name without value", '{"id"}'),
        ("comment in stars", '{"id": /* x */ "a"}'),
        ("comment to the line's end", '{"id": "a"} // x'),
        ("comment with a hash", '# x\n{"id": "a"}'),
        ("single quotes", "{'id': 'a'}"),
        ("bare name", '{id: "a"}'),
        ("number as a name", '{1: "a"}'),
        ("cut object", '{"id": "a"'),
        ("cut text", '{"id": "a'),
        ("cut literal", '{"flag": tru}'),
        ("long literal", '{"flag": truee}'),
        ("capital literal", '{"flag": True}'),
        ("None", '{"flag": None}'),
        ("undefined", '{"flag": undefined}'),
        ("two objects", '{"id": "a"}{"id": "b"}'),
        ("two objects in lines", '{"id": "a"}\n{"id": "b"}'),
        ("garbage after", '{"id": "a"} x'),
        ("garbage before", 'x {"id": "a"}'),
        ("closing bracket too many", '{"id": "a"}}'),
        ("wrong bracket", '{"id": "a"]'),
        ("byte order mark", '\ufeff{"id": "a"}'),
        ("no-break space", '{"id":\u00a0"a"}'),
        ("form feed", '\f{"id": "a"}'),
        ("vertical tab", '{"id":\v"a"}'),
        ("line separator between values", '{"id":\u2028"a"}'),
        ("tab in a text", '{"id": "a\tb"}'),
        ("line end in a text", '{"id": "a\nb"}'),
        ("NUL in a text", '{"id": "a\x00b"}'),
        ("control character in a name", '{"i\x01d": "a"}'),
        ("unknown escape", r'{"id": "\x41"}'),
        ("escaped single quote", r'{"id": "\'"}'),
        ("capital U escape", r'{"id": "\U0041"}'),
        ("cut escape", r'{"id": "\u12"}'),
        ("escape that is not hex", r'{"id": "\u12G4"}'),
        ("backslash at the end", '{"id": "a\\"}'),
        ("leading zero", '{"count": 01}'),
        ("minus leading zero", '{"count": -01}'),
        ("plus sign", '{"count": +1}'),
        ("bare point", '{"count": 1.}'),
        ("no digit before the point", '{"count": .5}'),
        ("bare exponent", '{"count": 1e}'),
        ("exponent sign only", '{"count": 1e+}'),
        ("minus alone", '{"count": -}'),
        ("two points", '{"count": 1.2.3}'),
        ("hexadecimal", '{"count": 0x10}'),
        ("digit groups", '{"count": 1_000}'),
        ("suffix", '{"count": 1L}'),
        ("digits of another script", '{"count": ٣}'),
        ("NaN alone", "NaN"),
        ("NaN in an array", "[NaN]"),
        ("NaN for a text", '{"name": NaN}'),
        ("NaN for a boolean", '{"flag": NaN}'),
        ("NaN for a timestamp", '{"at": NaN}'),
        ("NaN for an unknown field", '{"u": NaN}'),
        ("NaN inside a number field", '{"count": [NaN]}'),
        ("small nan", '{"ratio": nan}'),
        ("inf", '{"ratio": inf}'),
        ("plus Infinity", '{"ratio": +Infinity}'),
        ("minus INF", '{"ratio": -INF}'),
        ("minus NaN", '{"ratio": -NaN}'),
        ("NaN and more", '{"ratio": NaNs}'),
        ("NaN and a trailing comma", '{"ratio": NaN,}'),
    )
)

_CONSTANTS: tuple[Case, ...] = (
    bad("NaN for an integer", '{"count": NaN}', "count: 'NaN' is not integer"),
    bad("NaN for a float", '{"ratio": NaN}', "ratio: 'NaN' is not float"),
    bad("NaN for a decimal", '{"money": NaN}', "money: 'NaN' is not decimal(10,2)"),
    bad("Infinity for a float", '{"ratio": Infinity}', "ratio: 'Infinity' is not float"),
    bad("minus Infinity for a float", '{"ratio": -Infinity}', "ratio: '-Infinity' is not float"),
    bad("NaN under another JSON name", '{"other-name": NaN}', "other-name: 'NaN' is not integer"),
    bad(
        "several constants",
        '{"id": "NaN", "ratio": NaN , "count":Infinity}',
        "count: 'Infinity' is not integer; ratio: 'NaN' is not float",
    ),
)

_NO_OBJECT: tuple[Case, ...] = (
    bad("array", '[{"id": "a"}]', "not a JSON object but an array"),
    bad("empty array", "[]", "not a JSON object but an array"),
    bad("bare text", '"hello"', "not a JSON object but a text"),
    bad("object inside a text", r'"{\"id\": \"a\"}"', "not a JSON object but a text"),
    bad("bare number", "42", "not a JSON object but a number"),
    bad("bare negative number", " -1.5e3 ", "not a JSON object but a number"),
    bad("bare boolean", "true", "not a JSON object but a boolean"),
    bad("bare null", "null", "not a JSON object but null"),
)

_SEVERAL: tuple[Case, ...] = (
    bad(
        "all wrong fields, in the order of the fields",
        '{"flag": 2, "money": "x", "count": 3.5}',
        "count: '3.5' is not integer; money: 'x' is not decimal(10,2); flag: '2' is not boolean",
    ),
    bad(
        "wrong fields among right ones",
        '{"id": "a", "count": "b", "ratio": 1}',
        "count: 'b' is not integer",
    ),
)

CASES = _BYTES + _NESTING + _REPEATS + _BROKEN + _CONSTANTS + _NO_OBJECT + _SEVERAL
