"""One YAML file, the environment and the defaults → settings, or every reason why not."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path

from evergrid.config.declaration import Group, Properties, Shape, below
from evergrid.config.environment import override
from evergrid.config.java_properties import parse_properties
from evergrid.config.join_section import read_joins
from evergrid.config.kafka_section import read_kafka
from evergrid.config.problems import KeyPath, Location, Problems, quoted, suggestion
from evergrid.config.retention_section import read_retention, read_table_names
from evergrid.config.secrets import SecretReader
from evergrid.config.section import Section
from evergrid.config.settings import CONFIGURATION, Audit, Control, Gateway, Settings
from evergrid.config.source_section import read_sources
from evergrid.config.yaml_tree import SLIPS, MapNode, Node, ScalarNode, parse
from evergrid.model.errors import ConfigError

DEFAULTS = "default.yaml"
KEY_FILE = "keys.yaml"
AUDIT_FILE = Path("log", "audit.jsonl")

# What follows a topic's name in the names of its later versions.
_VERSION = "[._-]*"


def load(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings that the file at `path` and `environ` give over the defaults.

    Relative paths in them start from the file's directory, or from the current one when
    there is no file. Raises one ConfigProblems that lists all that must be mended.
    """
    problems = Problems()
    tree = MapNode(Location(DEFAULTS, 1))
    if path is not None:
        checked = _known_keys(_read_file(path, problems), CONFIGURATION, problems)
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


def _known_keys(
    node: Node, shape: Shape, problems: Problems, path: KeyPath = (), has_secrets: bool = False
) -> Node:
    """`node` with the keys that `shape` declares; every other key is reported and left out.

    Pasted lines of a Java .properties file become the mapping that they stand for.
    """
    has_secrets = has_secrets or (isinstance(shape, Group | Properties) and shape.has_secrets)
    if isinstance(shape, Properties) and isinstance(node, ScalarNode) and not node.null:
        return parse_properties(node, path, problems)
    if not isinstance(node, MapNode):
        return node
    entries: dict[str, Node] = {}
    for key, child in node.entries.items():
        child_shape = below(shape, key)
        is_alone = isinstance(child, ScalarNode) and child.null
        if has_secrets and is_alone and not (isinstance(shape, Group) and child_shape):
            # YAML makes two entries of `{password: hunter2,secret}`, and the second one is a
            # piece of the password: it is reported without its name.
            remedy = f'{SLIPS} Write "" where an empty one is meant.'
            problems.add(child.location, path, "found a key without a value", remedy)
        elif isinstance(shape, Group) and not child_shape:
            known = shape.keys
            remedy = suggestion(key, known, f"Known here: {', '.join(known)}.")
            problems.add(child.location, (*path, key), f"unknown key {quoted(key)}", remedy)
        elif child_shape:
            entries[key] = _known_keys(child, child_shape, problems, (*path, key), has_secrets)
        else:
            entries[key] = child
    return MapNode(node.location, entries)


def _with_sources(tree: MapNode) -> MapNode:
    """`tree` with the default sources where it has none, and with their joins."""
    if "sources" in tree.entries:  # the default joins speak of the default sources
        return tree
    sample = {part: _defaults().entries[part] for part in ("sources", "joins")}
    return MapNode(tree.location, {**sample, **tree.entries})


@functools.cache
def _defaults() -> MapNode:
    text = resources.files("evergrid.config").joinpath(DEFAULTS).read_text(encoding="utf-8")
    return parse(text, DEFAULTS, Problems())


def _read(root: Section, file: Path | None, secrets: SecretReader) -> Settings:
    internal = root.field(Settings, "internal_topics")
    if 0 < internal.replication < internal.min_insync:
        root.section("internal_topics").report(
            f"found {internal.min_insync}, but there are only {internal.replication} copies: "
            "nothing could be written",
            "Lower min_insync, or raise internal_topics.replication.",
            "min_insync",
        )
    sources = read_sources(root.section("sources"), internal.prefix)
    joins = read_joins(root.section("joins"), sources)
    system_tables = root.field(Settings, "system_tables")
    gateway = root.section("gateway")
    audit = gateway.section("audit")
    data_dir = root.field(Settings, "data_dir")
    topics = [source.topic for source in sources.values() if source]
    return root.read(
        Settings,
        file=file,
        kafka=read_kafka(root.section("kafka"), secrets),
        sources={name: source for name, source in sources.items() if source},
        joins=joins,
        retention=read_retention(root.section("retention"), read_table_names(root), system_tables),
        control=_read_control(root.section("control"), topics, internal.prefix),
        gateway=gateway.read(
            Gateway,
            keys=gateway.field(Gateway, "keys") or data_dir / KEY_FILE,
            audit=audit.read(Audit, file=audit.field(Audit, "file") or data_dir / AUDIT_FILE),
        ),
    )


def _read_control(section: Section, topics: Iterable[str], prefix: str) -> Control:
    """`topics` are the sources'; `prefix` is that of Evergrid's own topics."""
    sources = tuple(dict.fromkeys(topics))
    versions = tuple(name + ending for name in sources for ending in ("", _VERSION))
    allow = section.field(Control, "allow")
    control = section.read(Control, allow=versions if allow is None else allow)
    if control.topic in sources or (prefix and control.topic.startswith(f"{prefix}.")):
        is_source = control.topic in sources
        owner = "a source's topic" if is_source else f"one of Evergrid's own ({prefix}.*)"
        section.report(f"found '{control.topic}', {owner}", "Name a topic of its own.", "topic")
    return control
