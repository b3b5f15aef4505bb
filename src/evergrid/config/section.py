"""One section of a configuration while it is read: typed values out, problems noted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeVar

from evergrid.config.declaration import DeclaredKeys, Group, Key, Properties, declared
from evergrid.config.problems import KeyPath, Problems, quoted, suggestion
from evergrid.config.value_types import PROPERTY_VALUE, Value
from evergrid.config.yaml_tree import ListNode, MapNode, Node, ScalarNode

T = TypeVar("T")
S = TypeVar("S", bound=DeclaredKeys)


def described(node: Node) -> str:
    """What stands there, as an error says it."""
    if isinstance(node, MapNode):
        return "keys and values"
    if isinstance(node, ListNode):
        return "a list"
    return "nothing" if node.null else quoted(node.text)


def from_base(base: Path, path: str | Path) -> Path:
    """`path` from the configuration's directory if it is relative."""
    return Path(os.path.normpath(base / os.path.expanduser(path)))


class Section:
    """Reads the keys of one mapping; a wrong value is reported and a stand-in returned.

    The stand-in lets the reading go on, so that one run finds every problem. It is never
    used: with a problem noted, no settings are made. Relative paths start from `base`.
    """

    def __init__(
        self, tree: MapNode, path: KeyPath, problems: Problems, base: Path = Path()
    ) -> None:
        self.tree = tree
        self.path = path
        self.problems = problems
        self.base = base

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.tree.entries)

    def __contains__(self, key: str) -> bool:
        return key in self.tree.entries

    def node(self, key: str) -> Node | None:
        return self.tree.entries.get(key)

    def report(self, what: str, remedy: str, key: str = "") -> None:
        """Note a problem with this section, or with one key of it."""
        node = self.node(key) if key else None
        location = node.location if node else self.tree.location
        self.problems.add(location, (*self.path, key) if key else self.path, what, remedy)

    def read(self, struct: type[S], **known: Any) -> S:
        """The declared keys of `struct`; `known` are fields that were read otherwise."""
        values = {name: self.field(struct, name) for name in declared(struct) if name not in known}
        return struct(**values, **known)

    def field(self, struct: type[DeclaredKeys], name: str) -> Any:
        """What the declaration of one field of `struct` gives; None where it is unset."""
        key, shape = declared(struct)[name]
        if isinstance(shape, Key):
            return self._declared_value(key, shape)
        section = self.section(key)
        if isinstance(shape, Properties):
            return {name: section.property_value(name, shape) for name in section.names}
        assert isinstance(shape, Group)  # Named sections have readers of their own
        return None if shape.is_optional and not section.names else section.read(shape.struct)

    def _declared_value(self, name: str, key: Key) -> Any:
        if name not in self and key.default is not None:
            return () if key.is_list else self._absolute(key.kind.read(key.default))
        if name not in self and key.unset:
            return None
        return self.values(name, key.kind) if key.is_list else self.value(name, key.kind)

    def section(self, key: str) -> Section:
        """The section under `key`; an absent or empty one has no keys.

        One that is no section is reported, and what is missing in it is not: its problems
        go nowhere. Its value is not repeated: it may be a password in the wrong place.
        """
        node, problems = self.node(key), self.problems
        if not isinstance(node, MapNode):
            if node is not None and not (isinstance(node, ScalarNode) and node.null):
                found = "a list" if isinstance(node, ListNode) else "a single value"
                remedy = "Write one 'key: value' to a line, indented under this key."
                self.report(f"found {found}, expected keys and values", remedy, key)
                problems = Problems()
            node = MapNode(node.location if node else self.tree.location)
        return Section(node, (*self.path, key), problems, self.base)

    def items(self, key: str, node: ListNode) -> Section:
        """A list as a section; its entries are reported by their numbers, from 0 as in YAML."""
        entries = {str(number): item for number, item in enumerate(node.items)}
        return Section(MapNode(node.location, entries), (*self.path, key), self.problems, self.base)

    def value(self, key: str, kind: Value[T], default: T | None = None) -> T:
        """What `key` says, read as `kind`; `default` when it is not there."""
        node = self.node(key)
        if node is None:
            if default is not None:
                return default
            self.report("missing", f"Add it: {kind.expected}.", key)
            return kind.stand_in
        if not isinstance(node, ScalarNode) or node.null:
            self.report(f"found {described(node)}, expected {kind.expected}", kind.remedy, key)
            return kind.stand_in
        found: T = self._absolute(self.parse(key, node.text, kind))
        return found

    def _absolute(self, value: Any) -> Any:
        return from_base(self.base, value) if isinstance(value, Path) else value

    def parse(self, key: str, text: str, kind: Value[T]) -> T:
        """`text`, which belongs to `key`, read as `kind`."""
        try:
            return kind.read(text)
        except ValueError:
            remedy = suggestion(text, kind.options, kind.remedy)
            self.report(f"found {quoted(text)}, expected {kind.expected}", remedy, key)
            return kind.stand_in

    def values(self, key: str, kind: Value[T]) -> tuple[T, ...]:
        """A list of values; an environment variable has them in one text, with commas between."""
        node = self.node(key)
        if isinstance(node, ScalarNode):
            texts = [] if node.null else node.text.split(",")
            items = tuple(ScalarNode(node.location, text.strip()) for text in texts)
            node = ListNode(node.location, items)
        if not isinstance(node, ListNode):
            self.value(key, kind)  # reports keys and values where a list should be
            return ()
        listing = self.items(key, node)
        return tuple(dict.fromkeys(listing.value(number, kind) for number in listing.names))

    def property_value(self, name: str, shape: Properties) -> str:
        """The value of one property, whose name is checked too."""
        self.parse(name, name, shape.name)
        if name in shape.reserved:
            self.report(*shape.reserved[name], name)
        return self.value(name, PROPERTY_VALUE)

    def check_names(self, kind: Value[str]) -> None:
        """Report names that are not legal, or that only upper and lower case tell apart.

        Spark, environment variables and many file systems do not see that difference.
        """
        first: dict[str, str] = {}
        for name in self.names:
            self.parse(name, name, kind)
            twin = first.setdefault(name.casefold(), name)
            if twin != name:
                what = f"differs from '{twin}' in upper and lower case alone"
                self.report(what, "Rename one of the two.", name)
