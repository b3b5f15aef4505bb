"""A message as Kafka holds it, and what reading it gives: a row, or a reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evergrid.testing.oracle.field import NUMERIC, Unfit, Value, shown, value_of
from evergrid.testing.oracle.spec import LimitsSpec, SourceSpec
from evergrid.testing.oracle.strict import Broken, Document, JsonKind, depth, parse


@dataclass(frozen=True)
class Message:
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None

    @property
    def place(self) -> str:
        """Its part of a row id."""
        return f"{self.partition}:{self.offset}"


@dataclass(frozen=True)
class Row:
    """A message that was understood; `ts` is in microseconds since the epoch, UTC."""

    message: Message
    values: Mapping[str, Value]
    ts: int
    unknown_fields: int

    @property
    def position(self) -> tuple[int, int, int]:
        """The only order there is between two messages of one source."""
        return (self.ts, self.message.partition, self.message.offset)


@dataclass(frozen=True)
class Bad:
    """A message for quarantine; `text` is what is shown of it, None for a tombstone."""

    message: Message
    reason: str
    text: str | None


class _Refused(Exception):
    """The reason why a message goes to quarantine."""


def read(message: Message, source: SourceSpec, limits: LimitsSpec) -> Row | Bad:
    """The row that `message` is, or why it is none: the first reason that applies."""
    value = message.value
    try:
        document = _document(_text(value, limits), source, limits)
        values = _values(document, source)
        unknown = sum(name not in source.names for name, _ in document.members)
        return Row(message, values, _time(message, values, source), unknown)
    except _Refused as refusal:
        text = None if value is None else value.decode("utf-8", errors="replace")
        return Bad(message, str(refusal), text and text[: limits.quarantine_characters])


def _text(value: bytes | None, limits: LimitsSpec) -> str:
    if value is None:
        raise _Refused("tombstone")
    if value == b"":
        raise _Refused("empty value")
    if len(value) > limits.message_bytes:
        raise _Refused(f"too large: {len(value)} bytes, limit {limits.message_bytes}")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise _Refused("not valid UTF-8") from problem


def _document(text: str, source: SourceSpec, limits: LimitsSpec) -> Document:
    may_be_deep = text.count("[") + text.count("{") > limits.nesting
    if may_be_deep and depth(text) > limits.nesting:
        raise _Refused(f"nested deeper than {limits.nesting} levels")
    try:
        document = parse(text)
        _only_numeric_constants(document, source)
    except Broken as problem:
        raise _Refused("not valid JSON") from problem
    # Names can be told apart only in a text that is JSON, so this comes after parsing.
    _no_repeats(document)
    if document.kind is not JsonKind.OBJECT:
        raise _Refused(f"not a JSON object but {document.kind.value}")
    return document


def _only_numeric_constants(document: Document, source: SourceSpec) -> None:
    """NaN is not JSON; only where a number is due does the field's own reason say more."""
    constants = [name for name, part in document.members if part.kind is JsonKind.CONSTANT]
    if not constants:
        return
    fields = source.fields.items()
    numeric = {source.json_name(name) for name, kind in fields if kind.startswith(NUMERIC)}
    if not numeric.issuperset(constants):
        raise Broken


def _no_repeats(document: Document) -> None:
    seen = set()
    for name, _ in document.members:
        if name in seen:
            raise _Refused(f"duplicate field name: {name}")
        seen.add(name)
    if document.nested_repeat:
        raise _Refused("duplicate field name in a nested object")


def _values(document: Document, source: SourceSpec) -> dict[str, Value]:
    parts = dict(document.members)
    values: dict[str, Value] = {}
    reasons = []
    for column, spelling in source.fields.items():
        part = parts.get(source.json_name(column))
        try:
            values[column] = None if part is None else value_of(part, spelling)
        except Unfit as unfit:
            assert part is not None
            reasons.append(f"{source.json_name(column)}: '{shown(part)}' {unfit}")
    if reasons:
        raise _Refused("; ".join(reasons))
    return values


def _time(message: Message, values: dict[str, Value], source: SourceSpec) -> int:
    if source.time is None:
        return message.timestamp_ms * 1000
    ts = values[source.time]
    if ts is None:
        raise _Refused(f"no time: field {source.json_name(source.time)} is missing or null")
    assert isinstance(ts, int)
    return ts
