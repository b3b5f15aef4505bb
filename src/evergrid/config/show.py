"""The settings in effect, as YAML that a person can read and `load` reads back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
import yaml

from evergrid.config.connection import ClientProperties, Connection, Kafka
from evergrid.config.declaration import Group, Key, NamedSections, Shape, declared
from evergrid.config.join_columns import join_columns
from evergrid.config.join_section import HistoryKeys, JoinKeys
from evergrid.config.retention_section import DefaultRetention
from evergrid.config.settings import Settings
from evergrid.config.source_section import KAFKA_TIME, FieldKeys, SourceKeys
from evergrid.model.join import Join
from evergrid.model.source import Source
from evergrid.model.table import Retention

_HEADING = "# Evergrid's settings in effect: the defaults, the file and the environment together.\n"


def show(settings: Settings) -> str:
    """`settings` as a configuration file, secrets hidden."""
    safe = msgspec.structs.replace(settings, spark=settings.spark.shown())
    document = _written(
        safe,
        kafka=_kafka(settings.kafka),
        sources={name: _source(source) for name, source in settings.sources.items()},
        joins={name: _join(join, settings.sources) for name, join in settings.joins.items()},
        retention=_retention(settings.retention),
    )
    return _HEADING + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def _written(struct: msgspec.Struct, **known: Any) -> dict[str, Any]:
    """The declared keys of `struct` as the file has them; `known` are written already."""
    found: dict[str, Any] = {}
    for field, (name, shape) in declared(type(struct)).items():
        value = known[field] if field in known else _value(shape, getattr(struct, field))
        if value is not None:
            found[name] = value
    return found


def _value(shape: Shape, value: Any) -> Any:
    if isinstance(shape, Key):
        return (
            [shape.kind.write(item) for item in value] if shape.is_list else shape.kind.write(value)
        )
    if isinstance(shape, NamedSections):
        return {name: _value(shape.each, below) for name, below in value.items()} or None
    if not isinstance(shape, Group):
        return dict(value)
    if value is None:
        return {}
    written = _written(value)
    return written[shape.short] if set(written) == {shape.short} else written or None


def _kafka(kafka: Kafka) -> dict[str, Any]:
    """The source topics' connection as the common one; the others where they differ."""
    common = kafka.source
    shown = _connection(common.shown())
    for other in (kafka.control, kafka.internal):
        # Compared before secrets are hidden, or two passwords would look like one.
        own = _connection(other.shown())
        shown[other.name] = {
            key: value for key, value in own.items() if getattr(other, key) != getattr(common, key)
        }
    return shown


def _connection(connection: Connection) -> dict[str, Any]:
    clients = {
        kind: {name: _escaped(value) for name, value in getattr(connection, kind).items()}
        for kind in ClientProperties.__struct_fields__
    }
    return {"bootstrap": _escaped(connection.bootstrap), **clients}


def _escaped(value: str) -> str:
    return value.replace("${", "$${")


def _source(source: Source) -> dict[str, Any]:
    return _written(
        SourceKeys(
            topic=source.topic,
            table=source.table,
            key=source.key,
            time=source.time_field or KAFKA_TIME,
            start=source.start,
            fields={
                field.name: FieldKeys(field.type, field.json_name or None)
                for field in source.fields
            },
        )
    )


def _join(join: Join, sources: Mapping[str, Source]) -> dict[str, Any]:
    columns = {
        column.name: f"{join.source_of(column.side)}.{column.field}" for column in join.columns
    }
    is_default = join.columns == join_columns(join, sources)
    return _written(
        JoinKeys(
            table=join.table,
            type=join.type,
            left=join.left,
            right=join.right,
            left_key=join.left_key,
            right_key=join.right_key,
            columns={} if is_default else columns,
            history=HistoryKeys(join.history.left, join.history.right),
            pairs=join.pairs,
        )
    )


def _retention(retention: Mapping[str, Retention]) -> dict[str, Any]:
    """What most tables keep as the default, and the tables that keep something else."""
    common = Counter(retention.values()).most_common(1)[0][0]
    others = {table: _kept(kept) for table, kept in retention.items() if kept != common}
    default = {"default": _kept(common)}
    return {**default, "tables": others} if others else default


def _kept(retention: Retention) -> dict[str, Any]:
    return _written(DefaultRetention(retention.rows, retention.age_seconds))
