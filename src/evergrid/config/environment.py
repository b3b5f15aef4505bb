"""Environment variables that win over the file.

A variable's name is EVERGRID_ and the path to a key, its parts joined by two underscores,
in upper or lower case. Property names have dots, which no variable can have: there a
single underscore stands for a dot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evergrid.config.document import Branch, Node, Scalar, is_unicode, scalar
from evergrid.config.keys import KEYS, Fixed, Leaf, Named, Properties, Shape
from evergrid.config.problems import Path, Place, Problems, nearest

PREFIX = "EVERGRID_"
# They are read where they matter, before or beside any configuration.
_NO_KEYS = (
    "EVERGRID_CONFIG",
    "EVERGRID_CACHE",
    "EVERGRID_IVY_SETTINGS",
    "EVERGRID_URL",
    "EVERGRID_KEY",
)
_OF_TESTS = "EVERGRID_TEST_"
# Kubernetes tells every container about a service named evergrid by variables of its own.
_SERVICE = re.compile(r"EVERGRID_(\w+_)?(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP|SCTP))(_\w+)?")
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://")
_SEE_DOCS = "Remove it; docs/configuration.md lists the keys, one variable for each value."
_TABLES: Path = ("retention", "tables")


def override(tree: Branch, environ: Mapping[str, str], problems: Problems) -> Branch:
    """`tree` with what the environment says; a variable that says nothing is reported."""
    known = _known_variables(tree)
    setters: dict[Path, str] = {}
    for variable in sorted(environ):
        value = environ[variable]
        if not _is_ours(variable, value):
            continue
        place = Place(variable)
        path = _path_of(variable, known, problems)
        if path is None:
            continue
        if path in setters:
            what = f"sets what {setters[path]} sets too"
            problems.add(place, path, what, "Remove one of the two.")
        elif not is_unicode(value):
            problems.add(place, path, "its value is not text", "Write it in UTF-8.")
        else:
            tree = _put(tree, path, _node(value, place, _shape_at(path)), KEYS)
        setters[path] = variable
    return tree


def _node(value: str, place: Place, shape: Shape) -> Scalar:
    if isinstance(shape, Properties):
        return Scalar(place, value)
    if isinstance(shape, Leaf) and shape.verbatim:
        return Scalar(place, value, null=not value)
    return scalar(value, place)


def _is_ours(variable: str, value: str) -> bool:
    name = variable.upper()
    if not name.startswith(PREFIX) or name in _NO_KEYS or name.startswith(_OF_TESTS):
        return False
    is_address = name.endswith("_PORT") and _SERVICE_ADDRESS.match(value)
    return not (_SERVICE.fullmatch(name) or is_address)


def _path_of(variable: str, known: Mapping[str, list[Path]], problems: Problems) -> Path | None:
    paths = known.get(variable.upper(), [])
    if len(paths) > 1:
        both = " and ".join(".".join(path) for path in paths)
        problems.add(Place(variable), (), f"can mean {both}", "Set the key in the file.")
        return None
    path = paths[0] if paths else _property_path(variable)
    if path is None:
        # Compared without what all of them share, or everything would be near.
        near = nearest(variable[len(PREFIX) :], (name[len(PREFIX) :] for name in known))
        remedy = f"Did you mean '{PREFIX}{near}'?" if near else _SEE_DOCS
        problems.add(Place(variable), (), "matches no key of the configuration", remedy)
    return path


def _property_path(variable: str) -> Path | None:
    """The property that `variable` names, known or new."""
    for section, shape in _property_sections(KEYS, ()):
        start = f"{_variable(section)}__"
        name = variable[len(start) :].replace("_", ".")
        if name and variable.upper().startswith(start):
            return (*section, name.lower() if shape.lower else name)
    return None


def _property_sections(shape: Shape, path: Path) -> Iterator[tuple[Path, Properties]]:
    if isinstance(shape, Properties):
        yield path, shape
    elif isinstance(shape, Fixed):
        for key, child in shape.keys.items():
            yield from _property_sections(child, (*path, key))


def _known_variables(tree: Branch) -> dict[str, list[Path]]:
    """Every variable that would set a key of `tree` or one that it could have."""
    known: dict[str, list[Path]] = {}
    tables = _table_names(tree)
    for written, path in _settable(tree, KEYS, (), tables):
        known.setdefault(_variable(written), []).append(path)
    return known


def _variable(path: Path) -> str:
    return PREFIX + "__".join(part.replace(".", "_") for part in path).upper()


def _settable(
    node: Node | None, shape: Shape, path: Path, tables: tuple[str, ...]
) -> Iterator[tuple[Path, Path]]:
    """Each path as a variable writes it, and the path it sets."""
    entries = node.entries if isinstance(node, Branch) else {}
    if isinstance(shape, Leaf):
        yield path, path
    elif isinstance(shape, Properties):
        yield from (((*path, name), (*path, name)) for name in entries)
    elif isinstance(shape, Named):
        names = dict.fromkeys((*entries, *(tables if path == _TABLES else ())))
        for name in names:
            yield from _settable(entries.get(name), shape.each, (*path, name), tables)
    else:
        if shape.short:
            yield path, (*path, shape.short) if isinstance(node, Branch) else path
        for key, child in shape.keys.items():
            yield from _settable(entries.get(key), child, (*path, key), tables)


def _table_names(tree: Branch) -> tuple[str, ...]:
    """Names under which retention.tables may have an entry, roughly: it is checked later."""
    found: list[str] = []
    for part in ("sources", "joins"):
        owners = tree.entries.get(part)
        for name, owner in owners.entries.items() if isinstance(owners, Branch) else ():
            table = owner.entries.get("table") if isinstance(owner, Branch) else None
            found.append(table.text if isinstance(table, Scalar) else name)
    system = tree.entries.get("system_tables")
    for table in system.entries.values() if isinstance(system, Branch) else ():
        found += [table.text] if isinstance(table, Scalar) else []
    return tuple(found)


def _shape_at(path: Path) -> Shape:
    """The shape of the key at `path`; of a property, that of its section."""
    shape: Shape = KEYS
    for part in path:
        if isinstance(shape, Named):
            shape = shape.each
        elif isinstance(shape, Fixed):
            shape = shape.keys[part]
    return shape


def _put(branch: Branch, path: Path, node: Node, shape: Shape) -> Branch:
    key, rest = path[0], path[1:]
    if not rest:
        return branch.having(key, node)
    below = shape.each if isinstance(shape, Named) else _below(shape, key)
    child = branch.entries.get(key)
    if isinstance(child, Scalar) and not child.null:
        if not (isinstance(below, Fixed) and below.short):
            return branch  # a value where a section should be: reported when it is read
        child = Branch(child.place, {below.short: child})
    if not isinstance(child, Branch):
        child = Branch(node.place)
    return branch.having(key, _put(child, rest, node, below))


def _below(shape: Shape, key: str) -> Shape:
    return shape.keys[key] if isinstance(shape, Fixed) else Leaf()
