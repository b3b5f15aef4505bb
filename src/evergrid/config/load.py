"""One YAML file, the environment and the defaults → settings, or every reason why not."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from evergrid.config.control_section import read_control
from evergrid.config.environment import override
from evergrid.config.gateway_section import read_gateway
from evergrid.config.java_properties import spread
from evergrid.config.join_section import read_joins
from evergrid.config.kafka_section import read_kafka
from evergrid.config.problems import Problems
from evergrid.config.retention_section import read_retention, read_system_tables, read_table_names
from evergrid.config.secrets import SecretReader
from evergrid.config.section import Section
from evergrid.config.settings import InternalTopics, Limits, MissingTopics, Settings, Spark
from evergrid.config.source_section import read_sources
from evergrid.config.tree_checks import merge, report_unknown, without_strays
from evergrid.config.values import (
    DIRECTORY,
    MASTER,
    MEMORY,
    PREFIX,
    PROPERTY_VALUE,
    REPLICATION,
    SETTING,
    choice,
    duration,
    from_base,
    whole,
)
from evergrid.config.yaml_tree import MapNode, parse
from evergrid.model.errors import ConfigError

DEFAULTS = "default.yaml"

_OWN_SETTINGS = {
    "spark.master": "spark.master",
    "spark.driver.memory": "spark.driver_memory",
    "spark.sql.shuffle.partitions": "spark.shuffle_partitions",
}


def load(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings that the file at `path` and `environ` give over the packaged defaults.

    Relative paths in them start from the file's directory, or from the current one when
    there is no file. Raises one ConfigProblems that lists all that must be mended.
    """
    problems = Problems()
    tree = _defaults()
    if path is not None:
        tree = _over(tree, without_strays(_read_file(path, problems), problems), problems)
    tree = override(spread(tree, problems), environ, problems)
    root = Section(tree, (), problems)
    base = Path(os.path.abspath(path)).parent if path else Path.cwd()
    settings = _read(root, path, base, SecretReader(environ, base))
    problems.raise_any()
    return settings


@functools.cache
def _defaults() -> MapNode:
    text = resources.files("evergrid.config").joinpath(DEFAULTS).read_text(encoding="utf-8")
    return parse(text, DEFAULTS, Problems())


def _read_file(path: Path, problems: Problems) -> MapNode:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"the configuration cannot be read: {error.strerror}",
            where=str(path),
            remedy="Name a YAML file that exists and that this user may read.",
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(
            "the configuration is not UTF-8 text", where=str(path), remedy="Save it as UTF-8."
        ) from None
    return parse(text, str(path), problems)


def _over(defaults: MapNode, document: MapNode, problems: Problems) -> MapNode:
    report_unknown(document, problems)
    if "sources" in document.entries and "joins" not in document.entries:
        # The default joins speak of the default sources.
        defaults = defaults.having("joins", MapNode(document.entries["sources"].location))
    merged = merge(defaults, document)
    return merged if isinstance(merged, MapNode) else defaults


def _read(root: Section, file: Path | None, base: Path, secrets: SecretReader) -> Settings:
    internal = _read_internal_topics(root.section("internal_topics"))
    sources = read_sources(root.section("sources"), internal.prefix)
    joins = read_joins(root.section("joins"), sources)
    system_tables = read_system_tables(root.section("system_tables"))
    tables = read_table_names(root)
    data_dir = from_base(base, root.value("data_dir", DIRECTORY))
    return Settings(
        file=file,
        data_dir=data_dir,
        kafka=read_kafka(root.section("kafka"), base, secrets),
        internal_topics=internal,
        sources={name: source for name, source in sources.items() if source},
        joins=joins,
        system_tables=system_tables,
        retention=read_retention(root.section("retention"), tables, system_tables),
        limits=_read_limits(root.section("limits")),
        missing_topics=root.value("missing_topics", choice(MissingTopics)),
        control=read_control(
            root.section("control"),
            [source.topic for source in sources.values() if source],
            internal.prefix,
        ),
        spark=_read_spark(root.section("spark")),
        gateway=read_gateway(root.section("gateway"), base, data_dir),
    )


def _read_internal_topics(section: Section) -> InternalTopics:
    return InternalTopics(
        prefix=section.value("prefix", PREFIX),
        partitions=section.value("partitions", whole(1, 1000)),
        replication=section.value("replication", REPLICATION),
    )


def _read_limits(section: Section) -> Limits:
    return Limits(
        message_bytes=section.value("message_bytes", whole(1024, 16 * 1024 * 1024)),
        nesting=section.value("nesting", whole(1, 1000)),
        # Quarantined text goes into one Kafka message, in which it may grow sixfold.
        quarantine_characters=section.value("quarantine_characters", whole(1, 65536)),
    )


def _read_spark(section: Section) -> Spark:
    return Spark(
        master=section.value("master", MASTER),
        driver_memory=section.value("driver_memory", MEMORY),
        shuffle_partitions=section.value("shuffle_partitions", whole(1, 1000)),
        # Spark's real-time mode refuses batches under 5 seconds.
        batch_seconds=section.value("batch", duration(5, 3600, "5m")),
        settings=_read_spark_settings(section.section("settings")),
    )


def _read_spark_settings(section: Section) -> dict[str, str]:
    settings: dict[str, str] = {}
    for name in section.names:
        section.read(name, name, SETTING)
        if name in _OWN_SETTINGS:
            remedy = f"Set {_OWN_SETTINGS[name]} instead."
            section.report("this setting has a key of its own", remedy, name)
        settings[name] = section.value(name, PROPERTY_VALUE)
    return settings
