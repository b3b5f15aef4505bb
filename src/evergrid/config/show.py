"""The settings in effect, as YAML that a person can read and `load` reads back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import yaml

from evergrid.config.join_columns import join_columns
from evergrid.config.quantities import spell_bytes, spell_moment
from evergrid.config.settings import (
    Connection,
    Control,
    Gateway,
    GatewayLimits,
    Kafka,
    Settings,
    Spark,
    Tls,
)
from evergrid.config.source_section import KAFKA_TIME
from evergrid.config.values import spell_duration
from evergrid.model.join import Join
from evergrid.model.source import At, Field, Source, Start
from evergrid.model.table import Retention

Shown = str | int | list["Shown"] | dict[str, "Shown"]

_HEADING = "# Evergrid's settings in effect: the defaults, the file and the environment together.\n"


def show(settings: Settings) -> str:
    """`settings` as a configuration file, secrets hidden."""
    topics, system, limits = settings.internal_topics, settings.system_tables, settings.limits
    document: dict[str, Shown] = {
        "data_dir": str(settings.data_dir),
        "kafka": _kafka(settings.kafka),
        "internal_topics": {
            "prefix": topics.prefix,
            "partitions": topics.partitions,
            "replication": topics.replication,
        },
        "sources": {name: _source(source) for name, source in settings.sources.items()},
        "joins": {name: _join(join, settings.sources) for name, join in settings.joins.items()},
        "system_tables": {
            "quarantine": system.quarantine,
            "control_raw": system.control_raw,
            "orchestrator_status": system.orchestrator_status,
        },
        "retention": _retention(settings.retention),
        "limits": {
            "message_bytes": limits.message_bytes,
            "nesting": limits.nesting,
            "quarantine_characters": limits.quarantine_characters,
        },
        "missing_topics": settings.missing_topics.value,
        "control": _control(settings.control),
        "spark": _spark(settings.spark.shown()),
        "gateway": _gateway(settings.gateway),
    }
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return _HEADING + text


def _kafka(kafka: Kafka) -> dict[str, Shown]:
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


def _connection(connection: Connection) -> dict[str, Shown]:
    return {
        "bootstrap": _escaped(connection.bootstrap),
        "properties": _properties(connection.properties),
        "java": _properties(connection.java),
        "python": _properties(connection.python),
    }


def _properties(properties: Mapping[str, str]) -> dict[str, Shown]:
    return {name: _escaped(value) for name, value in properties.items()}


def _escaped(value: str) -> str:
    return value.replace("${", "$${")


def _source(source: Source) -> dict[str, Shown]:
    return {
        "topic": source.topic,
        "table": source.table,
        "key": source.key,
        "time": source.time_field or KAFKA_TIME,
        "start": _start(source.start),
        "fields": {field.name: _field(field) for field in source.fields},
    }


def _start(start: Start) -> str:
    return start.time.isoformat() if isinstance(start, At) else str(start.value)


def _field(field: Field) -> Shown:
    kind = str(field.type)
    return {"type": kind, "from": field.json_name} if field.json_name else kind


def _join(join: Join, sources: Mapping[str, Source]) -> dict[str, Shown]:
    shown: dict[str, Shown] = {
        "table": join.table,
        "type": join.type.value,
        "left": join.left,
        "right": join.right,
        "left_key": join.left_key,
        "right_key": join.right_key,
        "pairs": join.pairs,
    }
    limits = (("left", join.history.left), ("right", join.history.right))
    given: dict[str, Shown] = {side: most for side, most in limits if most is not None}
    if given:
        shown["history"] = given
    if join.columns != join_columns(join, sources):
        shown["columns"] = {
            column.name: f"{join.source_of(column.side)}.{column.field}" for column in join.columns
        }
    return shown


def _retention(retention: Mapping[str, Retention]) -> dict[str, Shown]:
    """What most tables keep as the default, and the tables that keep something else."""
    common = Counter(retention.values()).most_common(1)[0][0]
    others = {table: _kept(kept) for table, kept in retention.items() if kept != common}
    default: dict[str, Shown] = {"default": _kept(common)}
    return {**default, "tables": dict(others)} if others else default


def _kept(retention: Retention) -> Shown:
    age = spell_duration(retention.age_seconds)
    return {"age": age} if retention.rows is None else {"rows": retention.rows, "age": age}


def _control(control: Control) -> dict[str, Shown]:
    return {
        "topic": control.topic,
        "allow": list(control.allow),
        "grace": spell_duration(control.grace_seconds),
        "drain": spell_duration(control.drain_seconds),
        "generations": control.generations,
    }


def _spark(spark: Spark) -> dict[str, Shown]:
    return {
        "master": spark.master,
        "driver_memory": spark.driver_memory,
        "shuffle_partitions": spark.shuffle_partitions,
        "batch": spell_duration(spark.batch_seconds),
        "settings": dict(spark.settings),
    }


def _gateway(gateway: Gateway) -> dict[str, Shown]:
    return {
        "host": gateway.host,
        "port": gateway.port,
        "hosts": list(gateway.hosts),
        "origins": list(gateway.origins),
        "tls": _tls(gateway.tls) if gateway.tls else {},
        "behind_proxy": gateway.behind_proxy,
        "keys": str(gateway.keys),
        "memory_per_table": spell_bytes(gateway.table_bytes),
        "frame_interval": spell_moment(gateway.frame_interval_ms),
        "linger": spell_moment(round(gateway.linger_seconds * 1000)),
        "limits": _gateway_limits(gateway.limits),
    }


def _tls(tls: Tls) -> dict[str, Shown]:
    return {"certificate": str(tls.certificate), "key": str(tls.key)}


def _gateway_limits(limits: GatewayLimits) -> dict[str, Shown]:
    return {
        "message_bytes": limits.message_bytes,
        "messages_per_second": limits.messages_per_second,
        "windows_per_connection": limits.windows_per_connection,
        "window_rows": limits.window_rows,
        "connections": limits.connections,
        "connections_per_key": limits.connections_per_key,
        "strangers": limits.strangers,
        "login": spell_duration(limits.login_seconds),
        "views": limits.views,
        "exports": limits.exports,
    }
