"""From a message to a row, or to the reason why it cannot be one."""

from __future__ import annotations

from evergrid.testing.oracle.field import Unfit, is_numeric, shown, value_of
from evergrid.testing.oracle.message import Bad, Message, Row, Value
from evergrid.testing.oracle.plain import parse_plain
from evergrid.testing.oracle.spec import LimitsSpec, SourceSpec
from evergrid.testing.oracle.strict import (
    Broken,
    Document,
    JsonKind,
    depth,
    parse,
)


class _Refused(Exception):
    """The reason why a message goes to quarantine."""


def read(message: Message, source: SourceSpec, limits: LimitsSpec) -> Row | Bad:
    """The row that `message` is, or why it is none: the first reason that applies."""
    try:
        document = _document(_text(message.value, limits), source, limits)
        values = _values(document, source)
        return Row(message, values, _time(message, values, source), _unknown(document, source))
    except _Refused as refusal:
        return Bad(message, str(refusal), _shown(message.value, limits))


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
    document = parse_plain(text) if limits.nesting else None
    if document is None and depth(text) > limits.nesting:
        raise _Refused(f"nested deeper than {limits.nesting} levels")
    try:
        document = document or parse(text)
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
    numeric = {source.json_name(name) for name, type_ in source.fields.items() if is_numeric(type_)}
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


def _unknown(document: Document, source: SourceSpec) -> int:
    return sum(name not in source.names for name, _ in document.members)


def _shown(value: bytes | None, limits: LimitsSpec) -> str | None:
    if value is None:
        return None
    return value.decode("utf-8", errors="replace")[: limits.quarantine_characters]
