"""How one value is written: the reader of each kind, and the words for what it expects."""

from __future__ import annotations

import datetime
import enum
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from evergrid.config.secrets import HIDDEN
from evergrid.model.source import At, Edge, Start
from evergrid.model.table import NAME, TIME_COLUMN
from evergrid.model.types import SPELLINGS, TEXT, FieldType, parse_type

T = TypeVar("T")
E = TypeVar("E", bound=enum.Enum)

# A table's name is part of a topic's name, of which Kafka takes 249 characters.
LONGEST_NAME = 100
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
NEVER = "never"

_WHOLE = re.compile(r"-?(0|[1-9][0-9_]{0,17})")
_DURATION = re.compile(r"([1-9][0-9]{0,9})([smhd])")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_TOPIC_PATTERN = re.compile(r"[A-Za-z0-9._*?\[\]!-]{1,249}")
_HOST = r"(?:[A-Z_]+://)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}"
_BOOTSTRAP = re.compile(rf"{_HOST}(?:\s*,\s*{_HOST})*")
_PROPERTY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_MEMORY = re.compile(r"([1-9][0-9]{0,5})([mg])")
_MASTER = re.compile(r"local|yarn|(?:spark|k8s)://\S+")
_NOT_IN_JSON_NAME = re.compile(r"[\"'\\\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Value(Generic[T]):
    """`read` raises ValueError for a text that is not `expected`; `options` help to guess."""

    read: Callable[[str], T]
    expected: str
    remedy: str
    stand_in: T
    options: tuple[str, ...] = ()

    def accepts(self, text: str) -> bool:
        try:
            self.read(text)
        except ValueError:
            return False
        return True


def _text(accepts: Callable[[str], object], expected: str, remedy: str) -> Value[str]:
    def read(text: str) -> str:
        if not accepts(text):
            raise ValueError
        return text

    return Value(read, expected, remedy, "")


def _is_name(text: str) -> bool:
    return len(text) <= LONGEST_NAME and NAME.fullmatch(text) is not None


def _is_topic(text: str) -> bool:
    return text not in (".", "..") and _TOPIC.fullmatch(text) is not None


_NAME_WORDS = f"a name of letters, digits and _ (at most {LONGEST_NAME})"

TABLE = _text(
    lambda text: _is_name(text) and text.casefold() != "manifest",
    f"{_NAME_WORDS} that starts with a letter or _ and is not 'manifest'",
    "Choose such a name.",
)
SOURCE = _text(
    lambda text: _is_name(text) and not text.startswith("_"),
    f"{_NAME_WORDS} that starts with a letter",
    "Choose such a name.",
)
COLUMN = _text(
    lambda text: (
        _is_name(text) and not text.startswith("_") and text.casefold() != TIME_COLUMN.name
    ),
    f"{_NAME_WORDS} that starts with a letter and is not '{TIME_COLUMN.name}'",
    "Choose such a name; {type: ..., from: ...} reads a field of any name in the JSON.",
)
JOINED_COLUMN = Value(COLUMN.read, COLUMN.expected, "Choose such a name.", "")
JSON_NAME = _text(
    lambda text: text and not _NOT_IN_JSON_NAME.search(text),
    "the field's name in the JSON, without quotes, backslashes and control characters",
    "Rename the field where it is written.",
)
TOPIC = _text(
    _is_topic,
    "the name of a Kafka topic: 1 to 249 letters, digits, dots, _ and -",
    "Write the topic's name as Kafka lists it.",
)
TOPIC_PATTERN = _text(
    _TOPIC_PATTERN.fullmatch,
    "the name of a topic or a pattern of names such as users*, with *, ? and [...]",
    "Write a topic's name, with * for any letters.",
)
PREFIX = _text(
    lambda text: _is_topic(text) and len(text) <= LONGEST_NAME,
    f"the start of a topic's name: 1 to {LONGEST_NAME} letters, digits, dots, _ and -",
    "Choose such a prefix.",
)
BOOTSTRAP = _text(
    _BOOTSTRAP.fullmatch,
    "host:port, or several with commas between them",
    "Write the address of a broker such as 127.0.0.1:9092.",
)
PROPERTY = _text(
    _PROPERTY.fullmatch,
    "a property's name such as security.protocol",
    "Write it as its documentation does.",
)
PROPERTY_VALUE = _text(
    lambda text: text != HIDDEN,
    "a single value",
    'Write the value itself; "" is an empty one.',
)
SETTING = _text(
    lambda text: text.startswith("spark.") and _PROPERTY.fullmatch(text),
    "a Spark setting's name such as spark.ui.enabled",
    "Write it as Spark's documentation does, in the same upper and lower case.",
)
DIRECTORY = _text(
    lambda text: text and "\0" not in text,
    "a directory",
    "Write a path, absolute or relative to the configuration file.",
)
FILE = _text(
    lambda text: text and "\0" not in text,
    "a file",
    "Write a path, absolute or relative to the configuration file.",
)
MASTER = _text(
    _MASTER.fullmatch,
    "local, yarn, or an address that starts with spark:// or k8s://",
    "Write local to run Spark in this process; Evergrid finds the number of slots itself.",
)


def from_base(base: Path, text: str) -> Path:
    """A path that was given as text, from the configuration's directory if it is relative."""
    return Path(os.path.normpath(base / os.path.expanduser(text)))


def one_of(options: Iterable[str], kind: str = "one of") -> Value[str]:
    """One of `options`; `kind` says what they are in front of the list of them."""
    known = tuple(options)
    listed = ", ".join(known) or "(there is none)"

    def read(text: str) -> str:
        if text not in known:
            raise ValueError
        return text

    return Value(read, f"{kind} {listed}", "Choose one of these.", "", known)


def choice(kind: type[E]) -> Value[E]:
    members = list(kind)
    options = tuple(str(member.value) for member in members)
    expected = f"one of {', '.join(options)}"
    return Value(kind, expected, "Choose one of these.", members[0], options)


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError
    return text == "true"


BOOLEAN = Value(_boolean, "true or false", "Choose one of these.", False, ("true", "false"))


def whole(low: int, high: int) -> Value[int]:
    return _whole(range(low, high + 1), f"a whole number from {low} to {high}")


def _whole(allowed: range, expected: str, also: int | None = None) -> Value[int]:
    def read(text: str) -> int:
        number = int(text) if _WHOLE.fullmatch(text) else None
        if number is None or (number not in allowed and number != also):
            raise ValueError
        return number

    return Value(read, expected, "Choose a number in this range.", allowed[0])


REPLICATION = _whole(range(1, 101), "a whole number from 1 to 100, or -1", also=-1)


def spell_duration(seconds: int | None) -> str:
    """The shortest way to write a time, or the absence of one."""
    if seconds is None:
        return NEVER
    unit = max((u for u, size in SECONDS.items() if seconds % size == 0), key=SECONDS.__getitem__)
    return f"{seconds // SECONDS[unit]}{unit}"


def duration(low: int, high: int, example: str) -> Value[int]:
    def read(text: str) -> int:
        match = _DURATION.fullmatch(text)
        seconds = int(match[1]) * SECONDS[match[2]] if match else 0
        if not low <= seconds <= high:
            raise ValueError
        return seconds

    expected = f"a time from {spell_duration(low)} to {spell_duration(high)} such as {example}"
    return Value(read, expected, "Write a number and one of s, m, h, d.", low)


_SOME_AGE = duration(1, 36500 * SECONDS["d"], "30s, 15m, 12h or 7d")
AGE: Value[int | None] = Value(
    lambda text: None if text == NEVER else _SOME_AGE.read(text),
    f"{_SOME_AGE.expected}, or {NEVER}",
    f"Write a number and one of s, m, h, d; or {NEVER}.",
    None,
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
    if text in (Edge.EARLIEST.value, Edge.LATEST.value):
        return Edge(text)
    time = datetime.datetime.fromisoformat(text)
    if time.tzinfo is None or time.year < 1970:  # before that Kafka has no time
        raise ValueError
    try:
        return At(time.astimezone(datetime.UTC))
    except OverflowError as error:
        raise ValueError from error


START: Value[Start] = Value(
    _start,
    "earliest, latest, or a time with its zone such as 2026-01-31T00:00:00Z",
    "Choose one of these; Z is the zone of UTC.",
    Edge.EARLIEST,
    ("earliest", "latest"),
)


def _memory(text: str) -> str:
    match = _MEMORY.fullmatch(text)
    megabytes = int(match[1]) * (1024 if match[2] == "g" else 1) if match else 0
    if not 512 <= megabytes <= 1024 * 1024:  # Spark does not start with less
        raise ValueError
    return text


MEMORY = Value(
    _memory,
    "an amount of memory from 512m to 1024g",
    "Write a number and m or g such as 2g.",
    "",
)
