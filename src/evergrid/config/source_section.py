"""The `sources` section: topics, their fields, their key and their time."""

from __future__ import annotations

from collections.abc import Mapping

from evergrid.config.problems import quoted
from evergrid.config.section import Section
from evergrid.config.values import COLUMN, JSON_NAME, SOURCE, START, TABLE, TOPIC, TYPE, one_of
from evergrid.config.yaml_tree import MapNode, ScalarNode
from evergrid.model.source import Edge, Field, Source
from evergrid.model.types import Kind

KAFKA_TIME = "kafka"


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
    topic = section.value("topic", TOPIC)
    if prefix and topic.startswith(f"{prefix}."):
        section.report(
            f"found '{topic}', but topics that start with '{prefix}.' are Evergrid's own",
            "Name another topic, or change internal_topics.prefix.",
            "topic",
        )
    fields = _read_fields(section.section("fields"))
    source = Source(
        name=name,
        topic=topic,
        table=section.value("table", TABLE, name),
        fields=tuple(field for field in fields.values() if field),
        key=_read_key(section, fields),
        time_field=_read_time(section, fields),
        start=section.value("start", START, Edge.EARLIEST),
    )
    return source if len(section.problems) == before else None


def _read_fields(section: Section) -> dict[str, Field | None]:
    """The fields by column; None for one that exists but has a problem."""
    section.check_names(COLUMN)
    fields = {name: _read_field(section, name) for name in section.names}
    if not fields:
        section.report("there is no field", "Add at least one such as 'userId: text'.")
    return fields


def _read_field(section: Section, name: str) -> Field | None:
    before = len(section.problems)
    if isinstance(section.node(name), MapNode):
        detail = section.section(name)
        kind, json_name = detail.value("type", TYPE), detail.value("from", JSON_NAME, name)
    else:
        kind, json_name = section.value(name, TYPE), name
    field = Field(name, kind, json_name="" if json_name == name else json_name)
    return field if len(section.problems) == before else None


def _read_key(section: Section, fields: Mapping[str, Field | None]) -> str:
    if not fields:  # said already
        return ""
    key = section.value("key", one_of(fields, "a field:"))
    report_float_key(section, "key", fields.get(key))
    return key


def report_float_key(section: Section, key: str, field: Field | None) -> None:
    """Refuse floats as keys: 0.1 + 0.2 would not find 0.3."""
    if field and field.type.kind is Kind.FLOAT:
        section.report(
            f"found '{field.name}', a float, whose values are not exact enough to be equal",
            "Make the field decimal or text.",
            key,
        )


def _read_time(section: Section, fields: Mapping[str, Field | None]) -> str:
    if not fields:  # said already
        return ""
    # A field with a problem of its own may well be meant as a timestamp.
    usable = [n for n, f in fields.items() if f is None or f.type.kind is Kind.TIMESTAMP]
    if isinstance(node := section.node("time"), ScalarNode) and node.text == KAFKA_TIME:
        return ""
    return section.value("time", one_of(usable, "kafka or a timestamp field:"), "")


def _report_shared_topics(section: Section) -> None:
    first: dict[str, str] = {}
    for name in section.names:
        source = section.section(name)
        topic = source.node("topic")
        if not isinstance(topic, ScalarNode) or not topic.text:
            continue
        owner = first.setdefault(topic.text, name)
        if owner != name:
            source.report(
                f"found {quoted(topic.text)}, the topic of source '{owner}' too",
                "Give each source a topic of its own, or keep one of the two.",
                "topic",
            )
