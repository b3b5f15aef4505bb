"""One section of a configuration while it is read: typed values out, problems noted."""

from __future__ import annotations

from typing import TypeVar

from evergrid.config.problems import Path, Problems, quoted, suggestion
from evergrid.config.values import Value
from evergrid.config.yaml_tree import ListNode, MapNode, Node, ScalarNode

T = TypeVar("T")


def described(node: Node) -> str:
    """What stands there, as an error says it."""
    if isinstance(node, MapNode):
        return "keys and values"
    if isinstance(node, ListNode):
        return "a list"
    return "nothing" if node.null else quoted(node.text)


class Section:
    """Reads the keys of one branch; a wrong value is reported and a stand-in returned.

    The stand-in lets the reading go on, so that one run finds every problem. It is never
    used: with a problem noted, no settings are made.
    """

    def __init__(self, branch: MapNode, path: Path, problems: Problems) -> None:
        self.branch = branch
        self.path = path
        self.problems = problems

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.branch.entries)

    def __contains__(self, key: str) -> bool:
        return key in self.branch.entries

    def node(self, key: str) -> Node | None:
        return self.branch.entries.get(key)

    def report(self, what: str, remedy: str, key: str = "") -> None:
        """Note a problem with this section, or with one key of it."""
        node = self.node(key) if key else None
        location = node.location if node else self.branch.location
        self.problems.add(location, (*self.path, key) if key else self.path, what, remedy)

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
            node = MapNode(node.location if node else self.branch.location)
        return Section(node, (*self.path, key), problems)

    def value(self, key: str, value: Value[T], default: T | None = None) -> T:
        """What `key` says, read as `value`; `default` when it is not there."""
        node = self.node(key)
        if node is None:
            if default is not None:
                return default
            self.report("missing", f"Add it: {value.expected}.", key)
            return value.stand_in
        if not isinstance(node, ScalarNode) or node.null:
            self.report(f"found {described(node)}, expected {value.expected}", value.remedy, key)
            return value.stand_in
        return self.read(key, node.text, value)

    def read(self, key: str, text: str, value: Value[T]) -> T:
        """`text`, which belongs to `key`, read as `value`."""
        try:
            return value.read(text)
        except ValueError:
            remedy = suggestion(text, value.options, value.remedy)
            self.report(f"found {quoted(text)}, expected {value.expected}", remedy, key)
            return value.stand_in

    def check_names(self, value: Value[str]) -> None:
        """Report names that are not legal, or that only upper and lower case tell apart.

        Spark, environment variables and many file systems do not see that difference.
        """
        first: dict[str, str] = {}
        for name in self.names:
            self.read(name, name, value)
            twin = first.setdefault(name.casefold(), name)
            if twin != name:
                what = f"differs from '{twin}' in upper and lower case alone"
                self.report(what, "Rename one of the two.", name)
