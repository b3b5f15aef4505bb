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
from evergrid.config.join_section import read_joins
from evergrid.config.kafka_section import read_kafka
from evergrid.config.problems import Location, Problems
from evergrid.config.retention_section import read_retention, read_table_names
from evergrid.config.secrets import SecretReader
from evergrid.config.section import Section
from evergrid.config.settings import CONFIGURATION, Settings
from evergrid.config.source_section import read_sources
from evergrid.config.tree_checks import known_keys
from evergrid.config.yaml_tree import MapNode, parse
from evergrid.model.errors import ConfigError

DEFAULTS = "default.yaml"


def load(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings that the file at `path` and `environ` give over the defaults.

    Relative paths in them start from the file's directory, or from the current one when
    there is no file. Raises one ConfigProblems that lists all that must be mended.
    """
    problems = Problems()
    tree = MapNode(Location(DEFAULTS, 1))
    if path is not None:
        checked = known_keys(_read_file(path, problems), CONFIGURATION, problems)
        tree = checked if isinstance(checked, MapNode) else tree
    tree = override(_with_sources(tree), environ, problems)
    base = Path(os.path.abspath(path)).parent if path else Path.cwd()
    settings = _read(Section(tree, (), problems, base), path, SecretReader(environ, base))
    problems.raise_any()
    return settings


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


def _with_sources(tree: MapNode) -> MapNode:
    """`tree` with the default sources where it has none, and with their joins."""
    if "sources" in tree.entries:  # the default joins speak of the default sources
        return tree
    defaults = _defaults().entries
    return MapNode(
        tree.location, {"sources": defaults["sources"], "joins": defaults["joins"], **tree.entries}
    )


@functools.cache
def _defaults() -> MapNode:
    text = resources.files("evergrid.config").joinpath(DEFAULTS).read_text(encoding="utf-8")
    return parse(text, DEFAULTS, Problems())


def _read(root: Section, file: Path | None, secrets: SecretReader) -> Settings:
    internal = root.field(Settings, "internal_topics")
    sources = read_sources(root.section("sources"), internal.prefix)
    joins = read_joins(root.section("joins"), sources)
    system_tables = root.field(Settings, "system_tables")
    tables = read_table_names(root, system_tables)
    data_dir = root.field(Settings, "data_dir")
    topics = [source.topic for source in sources.values() if source]
    return root.read(
        Settings,
        file=file,
        data_dir=data_dir,
        kafka=read_kafka(root.section("kafka"), secrets),
        internal_topics=internal,
        sources={name: source for name, source in sources.items() if source},
        joins=joins,
        system_tables=system_tables,
        retention=read_retention(root.section("retention"), tables, system_tables),
        control=read_control(root.section("control"), topics, internal.prefix),
        gateway=read_gateway(root.section("gateway"), data_dir),
    )
