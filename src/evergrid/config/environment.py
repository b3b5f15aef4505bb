"""Environment variables that win over the file.

A variable's name is EVERGRID_ and the path to a key, its parts joined by two underscores,
in upper or lower case. Property names have dots, which no variable can have: there a
single underscore stands for a dot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evergrid.config.declaration import Group, Key, NamedSections, Properties, Shape, below
from evergrid.config.problems import KeyPath, Location, Problems, nearest
from evergrid.config.retention_section import wanted_tables
from evergrid.config.section import Section
from evergrid.config.settings import CONFIGURATION
from evergrid.config.yaml_tree import MapNode, Node, ScalarNode, is_unicode, scalar

PREFIX = "EVERGRID_"
# These are read elsewhere and set no key.
_NO_KEYS = (
    "EVERGRID_CONFIG",
    "EVERGRID_CACHE",
    "EVERGRID_IVY_SETTINGS",
    "EVERGRID_URL",
    "EVERGRID_KEY",
)
_TEST_PREFIX = "EVERGRID_TEST_"
# Kubernetes tells every container about a service named evergrid by variables of its own.
_SERVICE = re.compile(r"EVERGRID_(\w+_)?(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP|SCTP))(_\w+)?")
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://")
_SEE_DOCS = "Remove it; docs/configuration.md lists the keys, one variable for each value."
_TABLES: KeyPath = ("retention", "tables")

_Target = tuple[KeyPath, Shape]  # the key that a variable sets, and the declaration of its value


def override(tree: MapNode, environ: Mapping[str, str], problems: Problems) -> MapNode:
    """`tree` with the values of the environment; a variable that sets no key is reported."""
    tables = tuple(table for _, _, table in wanted_tables(Section(tree, (), Problems())))
    known: dict[str, list[_Target]] = {}
    for written, path, shape in _settable(tree, CONFIGURATION, (), tables):
        known.setdefault(_variable(written), []).append((path, shape))
    setters: dict[KeyPath, str] = {}
    for variable in sorted(environ):
        value, location = environ[variable], Location(variable)
        if not _is_ours(variable, value):
            continue
        target = _target_of(variable, known, problems)
        if target is None:
            continue
        path, shape = target
        if path in setters:
            what = f"sets what {setters[path]} sets too"
            problems.add(location, path, what, "Remove one of the two.")
        elif not is_unicode(value):
            problems.add(location, path, "its value is not text", "Write it in UTF-8.")
        else:
            tree = _put(tree, path, _node(value, location, shape), CONFIGURATION)
        setters[path] = variable
    return tree


def _node(value: str, location: Location, shape: Shape) -> ScalarNode:
    if isinstance(shape, Properties):
        return ScalarNode(location, value)
    if isinstance(shape, Key) and shape.kind.verbatim:
        return ScalarNode(location, value, null=not value)
    return scalar(value, location)


def _is_ours(variable: str, value: str) -> bool:
    name = variable.upper()
    if not name.startswith(PREFIX) or name in _NO_KEYS or name.startswith(_TEST_PREFIX):
        return False
    is_address = name.endswith("_PORT") and _SERVICE_ADDRESS.match(value)
    return not (_SERVICE.fullmatch(name) or is_address)


def _target_of(
    variable: str, known: Mapping[str, list[_Target]], problems: Problems
) -> _Target | None:
    targets = known.get(variable.upper()) or list(_properties(variable, CONFIGURATION, ()))
    if len(targets) == 1:
        return targets[0]
    what, remedy = "matches no key of the configuration", _SEE_DOCS
    if targets:
        both = " and ".join(".".join(path) for path, _ in targets)
        what, remedy = f"can mean {both}", "Set the key in the file."
    # Compared without what all of them share, or everything would be near.
    elif near := nearest(variable[len(PREFIX) :], (name[len(PREFIX) :] for name in known)):
        remedy = f"Did you mean '{PREFIX}{near}'?"
    problems.add(Location(variable), (), what, remedy)
    return None


def _properties(variable: str, shape: Shape, path: KeyPath) -> Iterator[_Target]:
    """The property that `variable` names, known or new."""
    if isinstance(shape, Group):
        for key, child in shape.keys.items():
            yield from _properties(variable, child, (*path, key))
    elif isinstance(shape, Properties):
        start = f"{_variable(path)}__"
        name = variable[len(start) :].replace("_", ".")
        if name and variable.upper().startswith(start):
            yield (*path, name.lower() if shape.is_lower else name), shape


def _variable(path: KeyPath) -> str:
    return PREFIX + "__".join(part.replace(".", "_") for part in path).upper()


def _settable(
    node: Node | None, shape: Shape, path: KeyPath, tables: tuple[str, ...]
) -> Iterator[tuple[KeyPath, KeyPath, Shape]]:
    """Each path as a variable writes it, the path it sets, and the declaration of its value."""
    entries = node.entries if isinstance(node, MapNode) else {}
    if isinstance(shape, Key):
        yield path, path, shape
    elif isinstance(shape, Properties):
        yield from (((*path, name), (*path, name), shape) for name in entries)
    elif isinstance(shape, NamedSections):
        for name in dict.fromkeys((*entries, *(tables if path == _TABLES else ()))):
            yield from _settable(entries.get(name), shape.each, (*path, name), tables)
    else:
        if shape.short:
            yield path, (*path, shape.short) if isinstance(node, MapNode) else path, shape
        for key, child in shape.keys.items():
            yield from _settable(entries.get(key), child, (*path, key), tables)


def _put(tree: MapNode, path: KeyPath, node: Node, shape: Shape | None) -> MapNode:
    key, rest = path[0], path[1:]
    if not rest:
        return tree.having(key, node)
    child, child_shape = tree.entries.get(key), below(shape, key)
    if isinstance(child, ScalarNode) and not child.null:
        if not (isinstance(child_shape, Group) and child_shape.short):
            return tree  # a value where a section should be: reported when it is read
        child = MapNode(child.location, {child_shape.short: child})
    if not isinstance(child, MapNode):
        child = MapNode(node.location)
    return tree.having(key, _put(child, rest, node, child_shape))
