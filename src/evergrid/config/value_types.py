"""Kinds of values: how each one is read from text, written back, and described in errors."""

from __future__ import annotations

import datetime
import enum
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from evergrid.config.secrets import HIDDEN
from evergrid.model.field_types import SPELLINGS, TEXT, FieldType, parse_type
from evergrid.model.source import Start, StartTime, TopicEnd
from evergrid.model.table import TIME_COLUMN

T = TypeVar("T")
E = TypeVar("E", bound=enum.Enum)

# A table's name is part of a topic's name, of which Kafka takes 249 characters.
LONGEST_NAME = 100

_WHOLE = re.compile(r"-?(0|[1-9][0-9_]{0,17})")
_HOST = r"(?:[A-Z_]+://)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}"
_PROPERTY = r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*"


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    return str(value) if isinstance(value, Path | FieldType) else value


@dataclass(frozen=True)
class Value(Generic[T]):
    """A kind of value.

    `read` raises ValueError for a text that is not `expected`; `write` is its reverse, for
    YAML. Reading goes on with `stand_in` after an error, and `options` help to guess what was
    meant. A `verbatim` value is taken from the environment as it is, not as YAML: a password
    may look like YAML.
    """

    read: Callable[[str], T]
    expected: str
    remedy: str
    stand_in: T
    options: tuple[str, ...] = ()
    write: Callable[[T], Any] = _plain
    verbatim: bool = False

    def accepts(self, text: str) -> bool:
        try:
            self.read(text)
        except ValueError:
            return False
        return True


def matching(pattern: str, expected: str, remedy: str, verbatim: bool = False) -> Value[str]:
    """A text that `pattern` matches, as it is written."""
    compiled = re.compile(pattern)

    def read(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError
        return text

    return Value(read, expected, remedy, "", verbatim=verbatim)


_NAME_WORDS = f"a name of letters, digits and _ (at most {LONGEST_NAME})"
_NAME_REST = rf"[A-Za-z0-9_]{{0,{LONGEST_NAME - 1}}}"
_SOURCE = rf"[A-Za-z]{_NAME_REST}"
_COLUMN = rf"(?!(?i:{TIME_COLUMN.name})\Z){_SOURCE}"
_COLUMN_WORDS = f"{_NAME_WORDS} that starts with a letter and is not '{TIME_COLUMN.name}'"
_CHOOSE_NAME = "Choose such a name"
_CHOOSE_ONE = "Choose one of these."

TABLE = matching(
    rf"(?!(?i:manifest)\Z)[A-Za-z_]{_NAME_REST}",
    f"{_NAME_WORDS} that starts with a letter or _ and is not 'manifest'",
    f"{_CHOOSE_NAME}.",
)
SOURCE = matching(_SOURCE, f"{_NAME_WORDS} that starts with a letter", f"{_CHOOSE_NAME}.")
COLUMN = matching(
    _COLUMN,
    _COLUMN_WORDS,
    f"{_CHOOSE_NAME}; {{type: ..., from: ...}} reads a field of any name in the JSON.",
)
JOINED_COLUMN = matching(_COLUMN, _COLUMN_WORDS, f"{_CHOOSE_NAME}.")
JSON_NAME = matching(
    r"[^\"'\\\x00-\x1f\x7f-\x9f]+",
    "the field's name in the JSON, without quotes, backslashes and control characters",
    "Rename the field where it is written.",
)
TOPIC = matching(
    r"(?!\.\.?\Z)[A-Za-z0-9._-]{1,249}",
    "the name of a Kafka topic: 1 to 249 letters, digits, dots, _ and -",
    "Write the topic's name as Kafka lists it.",
)
TOPIC_PATTERN = matching(
    r"[A-Za-z0-9._*?\[\]!-]{1,249}",
    "the name of a topic or a pattern of names such as users*, with *, ? and [...]",
    "Write a topic's name, with * for any letters.",
)
PREFIX = matching(
    rf"(?!\.\.?\Z)[A-Za-z0-9._-]{{1,{LONGEST_NAME}}}",
    f"the start of a topic's name: 1 to {LONGEST_NAME} letters, digits, dots, _ and -",
    "Choose such a prefix.",
)
BOOTSTRAP = matching(
    rf"{_HOST}(?:\s*,\s*{_HOST})*",
    "host:port, or several with commas between them",
    "Write the address of a broker such as 127.0.0.1:9092.",
)
PROPERTY = matching(
    _PROPERTY,
    "a property's name such as security.protocol",
    "Write it as its documentation does.",
)
PROPERTY_VALUE = matching(
    rf"(?s)(?!{re.escape(HIDDEN)}\Z).*",
    "a single value",
    'Write the value itself; "" is an empty one.',
    verbatim=True,
)
TEXT_VALUE = replace(PROPERTY_VALUE, remedy="Write the value itself.")
SETTING = matching(
    rf"(?=spark\.){_PROPERTY}",
    "a Spark setting's name such as spark.ui.enabled",
    "Write it as Spark's documentation does, in the same upper and lower case.",
)
MASTER = matching(
    r"local|yarn|(?:spark|k8s)://\S+",
    "local, yarn, or an address that starts with spark:// or k8s://",
    "Write local to run Spark in this process; Evergrid finds the number of slots itself.",
)
FILE = matching(
    r"[^\0]+", "a file", "Write a path, absolute or relative to the configuration file."
)
# A Section makes what they read absolute.
FILE_PATH = Value(lambda text: Path(FILE.read(text)), FILE.expected, FILE.remedy, Path())
DIRECTORY_PATH = replace(FILE_PATH, expected="a directory")


def _member(members: Mapping[str, T], expected: str, stand_in: T) -> Value[T]:
    def read(text: str) -> T:
        if text not in members:
            raise ValueError
        return members[text]

    return Value(read, expected, _CHOOSE_ONE, stand_in, tuple(members))


def one_of(options: Iterable[str], kind: str = "one of") -> Value[str]:
    """One of `options`; `kind` says what they are in front of the list of them."""
    known = {option: option for option in options}
    return _member(known, f"{kind} {', '.join(known) or '(there is none)'}", "")


def choice(kind: type[E]) -> Value[E]:
    """A member of an enumeration, by its value."""
    members = {str(member.value): member for member in kind}
    return _member(members, f"one of {', '.join(members)}", next(iter(kind)))


BOOLEAN = _member({"true": True, "false": False}, "true or false", False)


def whole(low: int, high: int, also: int | None = None) -> Value[int]:
    """A whole number from `low` to `high`, or `also`."""

    def read(text: str) -> int:
        number = int(text) if _WHOLE.fullmatch(text) else None
        if number is None or not (low <= number <= high or number == also):
            raise ValueError
        return number

    expected = f"a whole number from {low} to {high}" + (f", or {also}" if also else "")
    return Value(read, expected, "Choose a number in this range.", low)


SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
NEVER = "never"

_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000}
_BYTES = {"k": 2**10, "m": 2**20, "g": 2**30}


def _spelled(amount: int, units: Mapping[str, int]) -> str:
    """The shortest way to write `amount`."""
    unit = max((u for u, size in units.items() if amount % size == 0), key=units.__getitem__)
    return f"{amount // units[unit]}{unit}" if amount else "0s"


def _quantity(
    units: Mapping[str, int], low: int, high: int, kind: str, example: str, remedy: str
) -> Value[int]:
    pattern = re.compile(rf"(0|[1-9][0-9]{{0,9}})({'|'.join(units)})")

    def read(text: str) -> int:
        match = pattern.fullmatch(text)
        amount = int(match[1]) * units[match[2]] if match else -1
        if not low <= amount <= high:
            raise ValueError
        return amount

    expected = f"{kind} from {_spelled(low, units)} to {_spelled(high, units)}{example}"
    return Value(read, expected, remedy, low, write=lambda amount: _spelled(amount, units))


def duration(low: int, high: int, example: str, units: Mapping[str, int] = SECONDS) -> Value[int]:
    """A time, in seconds."""
    remedy = f"Write a number and one of {', '.join(units)}."
    return _quantity(units, low, high, "a time", f" such as {example}", remedy)


def short_duration(low: int, high: int, example: str) -> Value[int]:
    """A short time, in milliseconds."""
    return duration(low, high, example, _MILLISECONDS)


def in_seconds(kind: Value[int]) -> Value[float]:
    """A short time, in seconds."""
    return Value(
        lambda text: kind.read(text) / 1000,
        kind.expected,
        kind.remedy,
        kind.stand_in / 1000,
        write=lambda seconds: kind.write(round(seconds * 1000)),
    )


def memory(low: int, high: int, units: Mapping[str, int] = _BYTES) -> Value[int]:
    """An amount of memory, in bytes."""
    remedy = "Write a number and m or g such as 512m or 2g."
    return _quantity(units, low, high, "an amount of memory", "", remedy)


_SOME_AGE = duration(1, 36500 * SECONDS["d"], "30s, 15m, 12h or 7d")
AGE: Value[int | None] = Value(
    lambda text: None if text == NEVER else _SOME_AGE.read(text),
    f"{_SOME_AGE.expected}, or {NEVER}",
    f"Write a number and one of s, m, h, d; or {NEVER}.",
    None,
    write=lambda age: NEVER if age is None else _SOME_AGE.write(age),
)

# Spark does not start with less, and takes the text as it is.
_MEGABYTES = memory(512, 2**20, {"m": 1, "g": 1024})
DRIVER_MEMORY = Value(
    lambda text: text if _MEGABYTES.read(text) else "",
    _MEGABYTES.expected,
    "Write a number and m or g such as 2g.",
    "",
)


def _type(text: str) -> FieldType:
    found = parse_type(text)
    if found is None:
        raise ValueError
    return found


TYPE = Value(
    _type,
    f"one of {SPELLINGS}",
    "Choose one of these; P is 1 to 38 digits, S of them after the point.",
    TEXT,
    ("text", "integer", "float", "decimal(18,2)", "boolean", "timestamp"),
)


def _start(text: str) -> Start:
    if text in (TopicEnd.EARLIEST.value, TopicEnd.LATEST.value):
        return TopicEnd(text)
    time = datetime.datetime.fromisoformat(text)
    if time.tzinfo is None or time.year < 1970:  # before that Kafka has no time
        raise ValueError
    try:
        return StartTime(time.astimezone(datetime.UTC))
    except OverflowError as error:
        raise ValueError from error


START: Value[Start] = Value(
    _start,
    "earliest, latest, or a time with its zone such as 2026-01-31T00:00:00Z",
    "Choose one of these; Z is the zone of UTC.",
    TopicEnd.EARLIEST,
    ("earliest", "latest"),
    lambda start: start.time.isoformat() if isinstance(start, StartTime) else start.value,
)
