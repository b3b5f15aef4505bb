"""The settings in effect, as YAML that a person can read and `load` reads back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
import yaml

from evergrid.config.connection import Connection, Kafka
from evergrid.config.declaration import (
    DeclaredKeys,
    Group,
    Key,
    NamedSections,
    Shape,
    declared,
)
from evergrid.config.join_section import join_columns
from evergrid.config.settings import Settings
from evergrid.config.source_section import KAFKA_TIME
from evergrid.model.join import Join
from evergrid.model.source import Source
from evergrid.model.table import Retention

_HEADING = "# Evergrid's settings in effect: the defaults, the file and the environment together.\n"


def show(settings: Settings) -> str:
    """`settings` as a configuration file, secrets hidden."""
    values = {
        **msgspec.structs.asdict(settings),
        "spark": settings.spark.shown(),
        "sources": {name: _source(source) for name, source in settings.sources.items()},
        "joins": {name: _join(join, settings.sources) for name, join in settings.joins.items()},
        "retention": _retention(settings.retention),
    }
    document = _written(Settings, values, kafka=_kafka(settings.kafka))
    return _HEADING + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def _written(keys: type[DeclaredKeys], values: Mapping[str, Any], **known: Any) -> dict[str, Any]:
    """The `values` of declared keys as the file has them; `known` are written already."""
    found: dict[str, Any] = {}
    for field, (name, shape) in declared(keys).items():
        value = known[field] if field in known else _value(shape, values[field])
        if value is not None:
            found[name] = value
    return found


def _value(shape: Shape, value: Any) -> Any:
    if isinstance(shape, Key):
        write = shape.kind.write
        return [write(item) for item in value] if shape.is_list else write(value)
    if isinstance(shape, NamedSections):
        return {name: _value(shape.each, below) for name, below in value.items()} or None
    if not isinstance(shape, Group):
        return dict(value)
    if value is None:
        return {}
    values = msgspec.structs.asdict(value) if isinstance(value, msgspec.Struct) else value
    written = _written(shape.struct, values)
    return written[shape.short] if set(written) == {shape.short} else written or None


def _kafka(kafka: Kafka) -> dict[str, Any]:
    """The source topics' connection as the common one; the others where they differ."""
    common = kafka.source
    shown = _connection(common)
    for other in (kafka.control, kafka.internal):
        # Compared before secrets are hidden, or two passwords would look like one.
        shown[other.name] = {
            key: value
            for key, value in _connection(other).items()
            if getattr(other, key) != getattr(common, key)
        }
    return shown


def _connection(connection: Connection) -> dict[str, Any]:
    safe = connection.shown()
    clients = {
        kind: {name: _escaped(value) for name, value in getattr(safe, kind).items()}
        for kind in ("properties", "java", "python")
    }
    return {"bootstrap": _escaped(safe.bootstrap), **clients}


def _escaped(value: str) -> str:
    return value.replace("${", "$${")


def _source(source: Source) -> dict[str, Any]:
    fields = {
        field.name: {"type": field.type, "json_name": field.json_name or None}
        for field in source.fields
    }
    time = source.time_field or KAFKA_TIME
    return {**msgspec.structs.asdict(source), "time": time, "fields": fields}


def _join(join: Join, sources: Mapping[str, Source]) -> dict[str, Any]:
    columns = {}
    if join.columns != join_columns(join, sources):
        columns = {one.name: f"{join.source_of(one.side)}.{one.field}" for one in join.columns}
    return {**msgspec.structs.asdict(join), "columns": columns}


def _retention(retention: Mapping[str, Retention]) -> dict[str, Any]:
    """What most tables keep as the default, and the tables that keep something else."""
    common = Counter(retention.values()).most_common(1)[0][0]
    others = {table: _kept(kept) for table, kept in retention.items() if kept != common}
    return {"default": _kept(common), "tables": others}


def _kept(retention: Retention) -> dict[str, Any]:
    return {"rows": retention.rows, "age": retention.age_seconds}
