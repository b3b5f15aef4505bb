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
from evergrid.config.retention_section import SystemTables
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


def override(tree: MapNode, environ: Mapping[str, str], problems: Problems) -> MapNode:
    """`tree` with the values of the environment; a variable that sets no key is reported."""
    known = _known_variables(tree)
    setters: dict[KeyPath, str] = {}
    for variable in sorted(environ):
        value = environ[variable]
        if not _is_ours(variable, value):
            continue
        location = Location(variable)
        path = _path_of(variable, known, problems)
        if path is None:
            continue
        if path in setters:
            what = f"sets what {setters[path]} sets too"
            problems.add(location, path, what, "Remove one of the two.")
        elif not is_unicode(value):
            problems.add(location, path, "its value is not text", "Write it in UTF-8.")
        else:
            tree = _put(tree, path, _node(value, location, _shape_at(path)), CONFIGURATION)
        setters[path] = variable
    return tree


def _node(value: str, location: Location, shape: Shape | None) -> ScalarNode:
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


def _path_of(
    variable: str, known: Mapping[str, list[KeyPath]], problems: Problems
) -> KeyPath | None:
    paths = known.get(variable.upper(), [])
    if len(paths) > 1:
        both = " and ".join(".".join(path) for path in paths)
        problems.add(Location(variable), (), f"can mean {both}", "Set the key in the file.")
        return None
    path = paths[0] if paths else _property_path(variable)
    if path is None:
        # Compared without what all of them share, or everything would be near.
        near = nearest(variable[len(PREFIX) :], (name[len(PREFIX) :] for name in known))
        remedy = f"Did you mean '{PREFIX}{near}'?" if near else _SEE_DOCS
        problems.add(Location(variable), (), "matches no key of the configuration", remedy)
    return path


def _property_path(variable: str) -> KeyPath | None:
    """The property that `variable` names, known or new."""
    for section, shape in _property_sections(CONFIGURATION, ()):
        start = f"{_variable(section)}__"
        name = variable[len(start) :].replace("_", ".")
        if name and variable.upper().startswith(start):
            return (*section, name.lower() if shape.is_lower else name)
    return None


def _property_sections(shape: Shape, path: KeyPath) -> Iterator[tuple[KeyPath, Properties]]:
    if isinstance(shape, Properties):
        yield path, shape
    elif isinstance(shape, Group):
        for key, child in shape.keys.items():
            yield from _property_sections(child, (*path, key))


def _known_variables(tree: MapNode) -> dict[str, list[KeyPath]]:
    """Every variable that would set a key of `tree` or one that it could have."""
    known: dict[str, list[KeyPath]] = {}
    tables = _table_names(tree)
    for written, path in _settable(tree, CONFIGURATION, (), tables):
        known.setdefault(_variable(written), []).append(path)
    return known


def _variable(path: KeyPath) -> str:
    return PREFIX + "__".join(part.replace(".", "_") for part in path).upper()


def _settable(
    node: Node | None, shape: Shape, path: KeyPath, tables: tuple[str, ...]
) -> Iterator[tuple[KeyPath, KeyPath]]:
    """Each path as a variable writes it, and the path it sets."""
    entries = _entries(node)
    if isinstance(shape, Key):
        yield path, path
    elif isinstance(shape, Properties):
        yield from (((*path, name), (*path, name)) for name in entries)
    elif isinstance(shape, NamedSections):
        names = dict.fromkeys((*entries, *(tables if path == _TABLES else ())))
        for name in names:
            yield from _settable(entries.get(name), shape.each, (*path, name), tables)
    else:
        if shape.short:
            yield path, (*path, shape.short) if isinstance(node, MapNode) else path
        for key, child in shape.keys.items():
            yield from _settable(entries.get(key), child, (*path, key), tables)


def _table_names(tree: MapNode) -> tuple[str, ...]:
    """Names under which retention.tables may have an entry, roughly: it is checked later."""
    found: list[str] = []
    for part in ("sources", "joins"):
        for name, owner in _entries(tree.entries.get(part)).items():
            found.append(_text(_entries(owner).get("table"), name))
    for key, shape in Group(SystemTables).keys.items():
        default = (shape.default if isinstance(shape, Key) else None) or ""
        found.append(_text(_entries(tree.entries.get("system_tables")).get(key), default))
    return tuple(found)


def _entries(node: Node | None) -> Mapping[str, Node]:
    return node.entries if isinstance(node, MapNode) else {}


def _text(node: Node | None, default: str) -> str:
    return node.text if isinstance(node, ScalarNode) else default


def _shape_at(path: KeyPath) -> Shape | None:
    """The declaration of the key at `path`; of a property, that of its section."""
    shape: Shape | None = CONFIGURATION
    for part in path:
        shape = shape if isinstance(shape, Properties) else below(shape, part)
    return shape


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
