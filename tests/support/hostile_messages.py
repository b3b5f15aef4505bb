"""Malformed and extreme messages, made from valid ones.

Most are almost valid JSON, because parsers disagree there. The sequence is endless, and the same
for the same seed, so that a failure can be repeated.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

from evergrid.testing.oracle import LimitsSpec, SourceSpec
from evergrid.testing.random_cases import object_text, value_text

_TOKENS = (
    *("{", "}", "[", "]", '"', ",", ":", "\\", "'", "-", "+", ".", "e", "0", " ", "\n"),
    *("null", "true", "false", "NaN", "Infinity", "-Infinity", "//", "/**/", "#", "{}", "[]"),
    *('""', '":', '",', "\\u0000", "\\ud800", '\\"', "\\\\", "\x00", "\x1f", "\x7f", "é", "😀"),
)
_WHITE = (
    *("\t", "\n", "\r", "\r\n", "  ", "\f", "\v", "\u00a0", "\u2003", "\u2028", "\ufeff", "\x85"),
)
_ESCAPES = (
    *(r"\"", r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t", r"\u0041", r"\u00e9", r"\u0000"),
    *(r"\ud83d\ude00", r"\ud83d", r"\ude00", r"\ude00\ud83d", r"\uD83D\u0041", r"\uFFFF"),
    *(r"\x41", r"\'", r"\a", r"\u12", r"\u12g4", r"\U0041", "\\", "\t", "\x01", "\x7f"),
)
_TIMES = (
    *("2024-01-01T00:00:00Z", "2024-02-30T00:00:00Z", "2024-01-01 00:00Z", "2024-01-01T00:00:00"),
    *("2024-01-01T00:00:00.123456789+05:45", "2024-01-01T23:59:60Z", "0001-01-01T00:00:00+01:00"),
    *("9999-12-31T23:59:59.999999-00:01", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00-18:00"),
    *("2024-01-01T00:00:00+1801", "2024-W01-1T00:00:00Z", "2024-01-01t00:00:00z", "2024", "now"),
)
_INVALID_UTF8 = (
    *(b"\xff", b"\xc3", b"\xc0\xaf", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80"),
    *(b"\xf0\x9f\x98", b"\xfe\xfe", b"\xed\xbf\xbf", b"\xe0\x80\x80"),
)
_WORDS = ("", "true", "True", "NaN", "Infinity", "null", "1L", "0x1F", "1_0", "٣", "+1", "abc")


def hostile(
    rng: random.Random, source: SourceSpec, limits: LimitsSpec | None = None
) -> Iterator[bytes | None]:
    """Endless values for the topic of `source`; some are valid, most belong into quarantine."""
    maker = _Maker(rng, source, limits or LimitsSpec())
    kinds, weights = zip(*maker.kinds(), strict=True)
    while True:
        yield rng.choices(kinds, weights)[0]()


def number_text(rng: random.Random) -> str:
    """A number of any shape and length; one in eight breaks the grammar."""
    length = rng.choice((1, 1, 2, 5, 16, 18, 19, 20, 38, 39, 60, 400))
    digits = rng.choice("123456789") + "".join(rng.choices("0123456789", k=length - 1))
    whole = rng.choice((digits, digits, "0", "9" * length, "9223372036854775807"))
    places = rng.choice((1, 2, 3, 10, 40))
    digit = rng.choice(("0", "0", "9", rng.choice("0123456789")))
    fraction = rng.choice(("", "", "." + digit * places, "." + "0" * places + "1"))
    size = rng.choice((0, 1, 2, 18, 19, 39, 307, 309, 324, 400, 10**9, 10**30))
    exponent = rng.choice(("", "", "", f"{rng.choice('eE')}{rng.choice(('', '+', '-'))}{size}"))
    text = rng.choice(("", "", "-")) + whole + fraction + exponent
    if rng.random() < 0.125:
        text = rng.choice((f"+{text}", f"0{text}", f"{text}.", f".{text}", f"{text}e", f"{text}L"))
    return text


def mutated(rng: random.Random, valid: bytes) -> bytes:
    """A message with up to three small changes; it may be invalid UTF-8."""
    data = bytearray(valid)
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.randint(1, 8))
        accident = rng.randrange(5)
        if accident == 0 and start < len(data):
            data[start] ^= 1 << rng.randrange(8)
        elif accident == 1:
            del data[start:]
        elif accident == 2:
            data[start:start] = data[start:end]
        elif accident == 3:
            del data[start:end]
        else:
            data[start:start] = rng.choice(_TOKENS).encode()
    return bytes(data)


class _Maker:
    def __init__(self, rng: random.Random, source: SourceSpec, limits: LimitsSpec) -> None:
        self._rng = rng
        self._source = source
        self._limits = limits

    def kinds(self) -> list[tuple[Callable[[], bytes | None], float]]:
        """Each kind of value with its weight; huge ones are slow, so they are rare."""
        return [
            (self._valid, 5),
            (self._odd_fields, 40),
            (self._mutated, 30),
            (self._white, 5),
            (self._repeated, 5),
            (self._deep, 3),
            (self._no_object, 4),
            (self._invalid_utf8, 4),
            (self._noise, 2),
            (self._marked, 1),
            (lambda: b"", 0.3),
            (lambda: None, 0.3),
            (self._large, 0.05),
        ]

    def _object(self) -> str:
        return object_text(self._rng, self._source, {})

    def _name(self) -> str:
        """Of a field, or of none."""
        names = map(self._source.json_name, self._source.fields)
        return json.dumps(self._rng.choice(["u", "", *names]))

    def _valid(self) -> bytes:
        return self._object().encode()

    def _odd_fields(self) -> bytes:
        """A well-formed frame in which one to three fields hold something odd."""
        columns = list(self._source.fields)
        chosen = self._rng.sample(columns, min(len(columns), self._rng.randint(1, 3)))
        fixed: dict[str, str | None] = {column: self._odd_value() for column in chosen}
        return object_text(self._rng, self._source, fixed).encode()

    def _odd_value(self) -> str:
        rng = self._rng
        return rng.choice(
            (
                lambda: number_text(rng),
                lambda: number_text(rng),
                lambda: f'"{number_text(rng)}"',
                lambda: value_text(rng, rng.choice(list(self._source.fields.values()))),
                lambda: '"' + "".join(rng.choices(("a", "é", *_ESCAPES), k=3)) + '"',
                lambda: json.dumps(rng.choice(_TIMES)),
                lambda: json.dumps(rng.choice(_WORDS), ensure_ascii=False),
                lambda: rng.choice(("null", "true", "false", "NaN", "Infinity", "-Infinity")),
                lambda: rng.choice(("[]", "{}", "[1, 2]", '{"a": {"a": 1}}', '[{"b" : null}]')),
            )
        )()

    def _mutated(self) -> bytes:
        return mutated(self._rng, self._valid())

    def _white(self) -> bytes:
        text = self._object()
        for place in (":", ",", "{", "}"):
            if self._rng.random() < 0.5:
                text = text.replace(place, place + self._rng.choice(_WHITE), 1)
        return text.encode()

    def _repeated(self) -> bytes:
        text = self._object()
        again = self._name() + ":" + self._odd_value()
        nested = '"n":{"a":1,"b":[{"a":2,"a":3}]}'
        added = self._rng.choice((again, f"{again},{again}", nested, nested + "," + again))
        return (text[:-1] + ("," if len(text) > 2 else "") + added + "}").encode()

    def _deep(self) -> bytes:
        levels = max(1, self._limits.nesting + self._rng.randint(-3, 2))
        opening, closing = self._rng.choice((("[", "]"), ('{"a":', "}"), ('[{"]":', "}]")))
        value = opening * levels + self._rng.choice(("1", '"[{"', "")) + closing * levels
        member = f"{{{self._name()}: {value}}}"
        return self._rng.choice((value, member, opening * levels)).encode()

    def _no_object(self) -> bytes:
        whole = self._object()
        bare = self._rng.choice((self._odd_value(), f"[{whole}]", json.dumps(whole)))
        return self._rng.choice((bare, f" {bare}\n", f"{bare} {bare}")).encode()

    def _invalid_utf8(self) -> bytes:
        data = self._valid()
        at = self._rng.randrange(len(data) + 1)
        return data[:at] + self._rng.choice(_INVALID_UTF8) + data[at:]

    def _noise(self) -> bytes:
        return self._rng.randbytes(self._rng.randint(1, 60))

    def _marked(self) -> bytes:
        encoding = self._rng.choice(("utf-8-sig", "utf-16", "utf-16-le", "utf-32"))
        return self._object().encode(encoding)

    def _large(self) -> bytes:
        size = self._limits.message_bytes + self._rng.randint(-2, 2)
        frame = b'{"u": ""}'
        return frame[:-2] + b"x" * (size - len(frame)) + frame[-2:]
