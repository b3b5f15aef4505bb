"""A YAML document as a tree in which every value knows the line it came from.

Values stay the text that was written: whether `no`, `1_000` or `2026-01-31` is a word,
a number or a time is decided by the key it is given to, never by YAML's guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec
import yaml

from evergrid.config.problems import ConfigProblems, KeyPath, Location, Problem, Problems, quoted

_STANDARD_TAGS = "tag:yaml.org,2002:"
_NULL_TAG = "tag:yaml.org,2002:null"
_QUOTE_IT = "Put quotes around a value that starts with a sign such as ! * & % @."
_KEY = re.compile(r"[A-Za-z0-9_./-]+")
SLIPS = "Put a blank after ':', and quotes around a value that has commas or colons in it."
_CHECK = f"Check the indentation and the brackets near this line. {_QUOTE_IT}"


class ScalarNode(msgspec.Struct, frozen=True):
    """A value; `literal` is a block after `|`, whose lines are as they were written."""

    location: Location
    text: str
    null: bool = False
    literal: bool = False


class ListNode(msgspec.Struct, frozen=True):
    location: Location
    items: tuple[Node, ...]


class MapNode(msgspec.Struct, frozen=True):
    location: Location
    entries: Mapping[str, Node] = MappingProxyType({})

    def having(self, key: str, node: Node) -> MapNode:
        return MapNode(self.location, {**self.entries, key: node})


Node = ScalarNode | ListNode | MapNode


def parse(text: str, origin: str, problems: Problems) -> MapNode:
    """The document in `text`; a key that cannot be read is reported and left out.

    Raises ConfigProblems for a text that is not YAML: nothing more can be said about it.
    """
    location = Location(origin, 1)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _unreadable(origin, line, f"not valid YAML: {_reason(error)}", _CHECK) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _unreadable(origin, line, "found a control character", "Remove it.") from None
    except RecursionError:
        raise _unreadable(origin, 1, "nests too deep to be read", "Use fewer levels.") from None
    if root is None:
        return MapNode(location)
    branch = _Converter(origin, problems).convert(root, (), location)
    if not isinstance(branch, MapNode):
        remedy = "Start from the packaged default.yaml."
        raise _unreadable(origin, 1, "found no keys at the top of the file", remedy)
    return branch


def _unreadable(origin: str, line: int, what: str, remedy: str) -> ConfigProblems:
    return ConfigProblems([Problem(Location(origin, line), (), what, remedy)])


def _reason(error: yaml.MarkedYAMLError) -> str:
    """What YAML found wrong, without the words it found: they may be a password."""
    problem = error.problem or "it cannot be read"
    for telling in ("found undefined alias", "found duplicate anchor", "found undefined tag"):
        if problem.startswith(telling):
            return telling
    return problem


class _Converter:
    """Turns PyYAML's nodes into ours; keeps what it has met, since aliases share nodes."""

    def __init__(self, origin: str, problems: Problems) -> None:
        self._origin = origin
        self._problems = problems
        self._done: dict[yaml.Node, Node | None] = {}  # None while it is being turned

    def convert(self, node: yaml.Node, path: KeyPath, location: Location) -> Node:
        """`location` is the key's line: what a person looks for when a whole section is wrong."""
        if node in self._done:
            known = self._done[node]
            if known is None:
                self._problems.add(location, path, "refers to itself", "Write the values out.")
            return known or ScalarNode(location, "", null=True)
        if not node.tag.startswith(_STANDARD_TAGS):
            self._problems.add(location, path, "found a YAML tag (!)", _QUOTE_IT)
        self._done[node] = None
        if isinstance(node, yaml.MappingNode):
            found: Node = self._branch(node, path, location)
        elif isinstance(node, yaml.SequenceNode):
            items = enumerate(node.value)
            below = [self.convert(item, (*path, str(i)), self._location(item)) for i, item in items]
            found = ListNode(location, tuple(below))
        else:
            found = self._scalar(node, path)
        self._done[node] = found
        return found

    def _branch(self, node: yaml.MappingNode, path: KeyPath, location: Location) -> MapNode:
        entries: dict[str, Node] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            here = self._location(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                self._problems.add(here, path, "found a key that is not a word", "Name the key.")
                continue
            key = self._scalar(key_node, path).text
            if not _KEY.fullmatch(key):
                # Not repeated: after `password:hunter2` it holds what nobody may read.
                what = "found a key that is not made of a-z, A-Z, 0-9, dots, slashes, _ and -"
                self._problems.add(here, path, what, f"Rename it, or: {SLIPS}")
                continue
            if key in entries:
                self._report_twice(key, here, lines[key], path, value_node)
                continue
            entries[key] = self.convert(value_node, (*path, key), here)
            lines[key] = here.line
        return MapNode(location, entries)

    def _report_twice(
        self, key: str, here: Location, first: int, path: KeyPath, value: yaml.Node
    ) -> None:
        what, remedy = f"stands here twice, first on line {first}", "Remove one of the two."
        if value.tag == _NULL_TAG:  # a word alone may be a piece of a secret with commas
            self._problems.add(here, path, f"a key {what}", f"{remedy} {SLIPS}")
        else:
            self._problems.add(here, (*path, key), f"the key {quoted(key)} {what}", remedy)

    def _scalar(self, node: yaml.Node, path: KeyPath) -> ScalarNode:
        location, text = self._location(node), str(node.value)
        if not is_unicode(text):
            self._problems.add(location, path, "found half a character", "Write whole characters.")
            return ScalarNode(location, "")
        literal = isinstance(node, yaml.ScalarNode) and node.style == "|"
        return ScalarNode(location, text, node.tag == _NULL_TAG, literal)

    def _location(self, node: yaml.Node) -> Location:
        return Location(self._origin, node.start_mark.line + 1)


def is_unicode(text: str) -> bool:
    """Whether `text` can leave this process: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def scalar(text: str, location: Location) -> ScalarNode:
    """`text` read as one YAML value; what is more than one value is taken as it is written."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return ScalarNode(location, text)
    if node is None:
        return ScalarNode(location, "", null=True)
    if not isinstance(node, yaml.ScalarNode) or not node.tag.startswith(_STANDARD_TAGS):
        return ScalarNode(location, text)
    return ScalarNode(location, node.value, null=node.tag == _NULL_TAG)
