"""Control messages as bytes, parsed strictly, since each one changes what everybody sees."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evergrid.config.settings import Settings
from evergrid.config.value_types import TOPIC
from evergrid.model.control_request import Request, topic_words, type_words
from evergrid.model.errors import DataError
from evergrid.model.join import JoinType
from evergrid.model.printable import printable

_MAX_SHOWN = 80
LARGEST_BYTES = 16 * 1024
BY_HEADER = "evergrid.by"  # who sent it, as far as the sender says


def read_request(value: bytes | None, settings: Settings) -> Request:
    """The request in a message; DataError with the reason if it is invalid."""
    fields = _fields(value)
    topics = {word: source for source, word in topic_words(settings.sources).items()}
    short = {word: join for join, word in type_words(settings.joins).items()}
    types = short | {f"{join}JoinType": join for join in settings.joins}
    unknown = [name for name in fields if name not in topics and name not in types]
    if unknown:
        known = ", ".join((*topics, *types))
        raise DataError(f"there is no {unknown[0][:_MAX_SHOWN]!r} to set; it can be one of {known}")
    given = {name: value for name, value in fields.items() if value is not None}
    for name, join in short.items():
        long = f"{join}JoinType"
        if long != name and {name, long} <= given.keys():
            raise DataError(f"{name} and {long} name the type of the same join")
    request = Request(
        {topics[name]: _topic(settings, name, given[name]) for name in topics if name in given},
        {types[name]: _type(name, given[name]) for name in types if name in given},
    )
    if not given:
        raise DataError(f"it asks for nothing; name one of {', '.join((*topics, *types))}")
    return request


def why_not_allowed(settings: Settings, topic: str) -> str:
    """Why control messages may not name this topic; empty if they may."""
    prefix = f"{settings.internal_topics.prefix}."
    if topic.startswith(prefix) or topic == settings.control.topic:
        return f"topic {topic} is one of Evergrid's own"
    if not settings.control.allows(topic):
        patterns = ", ".join(settings.control.allow) or "none"
        return f"topic {topic} is not allowed; control.allow has {patterns}"
    return ""


def _topic(settings: Settings, name: str, value: object) -> str:
    if not isinstance(value, str) or not TOPIC.accepts(value):
        raise DataError(f"field {name} is {_shown(value)}, expected {TOPIC.expected}")
    if reason := why_not_allowed(settings, value):
        raise DataError(f"field {name}: {reason}")
    return value


def _type(name: str, value: object) -> JoinType:
    kinds = [kind.value for kind in JoinType]
    if not isinstance(value, str) or value not in kinds:
        raise DataError(f"field {name} is {_shown(value)}, expected one of {', '.join(kinds)}")
    return JoinType(value)


def _shown(value: object) -> str:
    """A value as JSON, with control characters escaped."""
    try:
        return printable(json.dumps(value, ensure_ascii=False)[:_MAX_SHOWN])
    except RecursionError:
        return "nested too deeply"


def _fields(value: bytes | None) -> Mapping[str, object]:
    if value is None:
        raise DataError("it has no value")
    if len(value) > LARGEST_BYTES:
        raise DataError(f"it has {len(value):,} bytes; at most {LARGEST_BYTES:,} are read")
    try:
        found = json.loads(value.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise DataError("it is not UTF-8 text") from None
    except (ValueError, RecursionError):
        raise DataError("it is not valid JSON") from None
    if not isinstance(found, dict):
        raise DataError("it is not a JSON object")
    return found


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise DataError("it has the same field twice")
    return fields


def _no_number(text: str) -> object:
    raise DataError(f"{text} is not a number")
