"""The `sources` section: topics, their fields, their key and their time."""

from __future__ import annotations

from collections.abc import Mapping

from evergrid.config.declaration import DeclaredKeys, Group, NamedSections, setting, subsection
from evergrid.config.problems import quoted
from evergrid.config.section import Section
from evergrid.config.value_types import (
    COLUMN,
    JSON_NAME,
    SOURCE,
    START,
    TABLE,
    TOPIC,
    TYPE,
    Value,
    one_of,
)
from evergrid.config.yaml_tree import MapNode, ScalarNode
from evergrid.model.field_types import ColumnKind, FieldType
from evergrid.model.source import Field, Source, Start

KAFKA_TIME = "kafka"


class FieldKeys(DeclaredKeys, frozen=True):
    """A column: its type alone, or its type and the JSON field that it is read from."""

    type: FieldType = setting(TYPE, "the column's type")
    json_name: str | None = setting(
        JSON_NAME, "the field's name in the JSON", unset="the column's name", name="from"
    )


class SourceKeys(DeclaredKeys, frozen=True):
    """Kafka topics with one JSON object per message."""

    topic: str = setting(TOPIC, "the Kafka topic, which no other source has")
    table: str = setting(TABLE, "the table that shows its messages", unset="the source's name")
    key: str = setting(Value(str, "a field, not a `float`", "", ""), "the field that joins look up")
    time: str = setting(
        Value(str, "kafka or a timestamp field", "", ""),
        "a message's time; `kafka`: its Kafka timestamp",
        KAFKA_TIME,
    )
    start: Start = setting(START, "where reading starts", "earliest")
    fields: Mapping[str, FieldKeys] = subsection(
        NamedSections(
            Group(FieldKeys, short="type"),
            "the columns, at least one (`{type: integer, from: user-age}` reads another JSON name)",
        )
    )


def read_sources(section: Section, prefix: str) -> dict[str, Source | None]:
    """Every source by its name; None for one that has a problem, so that joins know it exists.

    `prefix` is that of Evergrid's own topics, which cannot be sources.
    """
    if not section.names:
        section.report(
            "there is no source", "Add one with its topic, key and fields, or leave out 'sources'."
        )
    section.check_names(SOURCE)
    sources = {name: _read_source(section.section(name), prefix) for name in section.names}
    _report_shared_topics(section)
    return sources


def _read_source(section: Section, prefix: str) -> Source | None:
    before = len(section.problems)
    name = section.path[-1]
    topic = section.field(SourceKeys, "topic")
    if prefix and topic.startswith(f"{prefix}."):
        section.report(
            f"found '{topic}', but topics that start with '{prefix}.' are Evergrid's own",
            "Name another topic, or change internal_topics.prefix.",
            "topic",
        )
    fields = _read_fields(section.section("fields"))
    key = section.value("key", one_of(fields, "a field:")) if fields else ""
    report_float_key(section, "key", fields.get(key))
    source = Source(
        name=name,
        topic=topic,
        table=section.field(SourceKeys, "table") or name,
        fields=tuple(field for field in fields.values() if field),
        key=key,
        time_field=_read_time(section, fields) if fields else "",
        start=section.field(SourceKeys, "start"),
    )
    return source if len(section.problems) == before else None


def _read_fields(section: Section) -> dict[str, Field | None]:
    """The fields by column; None for one that exists but has a problem."""
    section.check_names(COLUMN)
    if not section.names:
        section.report("there is no field", "Add at least one such as 'userId: text'.")
    return {name: _read_field(section, name) for name in section.names}


def _read_field(section: Section, name: str) -> Field | None:
    before = len(section.problems)
    if isinstance(section.node(name), MapNode):
        keys = section.section(name).read(FieldKeys)
    else:
        keys = FieldKeys(section.value(name, TYPE), None)
    json_name = "" if keys.json_name in (None, name) else keys.json_name
    return Field(name, keys.type, json_name) if len(section.problems) == before else None


def report_float_key(section: Section, key: str, field: Field | None) -> None:
    """Refuse floats as keys: 0.1 + 0.2 would not find 0.3."""
    if field and field.type.kind is ColumnKind.FLOAT:
        section.report(
            f"found '{field.name}', a float, whose values are not exact enough to be equal",
            "Make the field decimal or text.",
            key,
        )


def _read_time(section: Section, fields: Mapping[str, Field | None]) -> str:
    # A field with a problem of its own may well be meant as a timestamp.
    usable = [n for n, f in fields.items() if f is None or f.type.kind is ColumnKind.TIMESTAMP]
    if isinstance(node := section.node("time"), ScalarNode) and node.text == KAFKA_TIME:
        return ""
    return section.value("time", one_of(usable, "kafka or a timestamp field:"), "")


def _report_shared_topics(section: Section) -> None:
    first: dict[str, str] = {}
    for name in section.names:
        source = section.section(name)
        topic = source.node("topic")
        if isinstance(topic, ScalarNode) and topic.text:
            owner = first.setdefault(topic.text, name)
            if owner != name:
                what = f"found {quoted(topic.text)}, the topic of source '{owner}' too"
                remedy = "Give each source a topic of its own, or keep one of the two."
                source.report(what, remedy, "topic")
