"""Lines of a Java `.properties` file, pasted under a key as they are: ``properties: |``.

They are read by Java's rules and become the mapping that a person would have written, each value
with its own line. A line that is not name=value is reported without its text: it may be a piece of
a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from evergrid.config.problems import KeyPath, Location, Problems
from evergrid.config.yaml_tree import MapNode, ScalarNode, is_unicode

_BLANK = " \t\f"
_PARTS = re.compile(r"((?:[^\\=: \t\f]|\\.)*)([ \t\f]*[=:]?[ \t\f]*)(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_HALF_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
# A line of a key in Base64 has no dots. A login whose line was not continued begins with the name
# of its class, or of an option such as username.
_NAME = re.compile(r"acks|debug|retries|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+(?<!LoginModule)")


class _Line(msgspec.Struct, frozen=True):
    """A name and its value, still with Java's escapes, and the line where they begin."""

    number: int
    name: str
    separator: str
    value: str


def parse_properties(node: ScalarNode, path: KeyPath, problems: Problems) -> MapNode:
    """The mapping that pasted lines stand for."""
    if not node.literal:  # YAML has made one line of them
        remedy = "Write one 'key: value' to a line, indented under this key; or paste the lines of "
        remedy += f"a .properties file after '{path[-1]}: |'."
        problems.add(node.location, path, "found a single value, expected keys and values", remedy)
        return MapNode(node.location)
    entries: dict[str, ScalarNode] = {}
    is_well = True
    for line in _lines(node.text):
        location = Location(node.location.origin, node.location.line + 1 + line.number)
        if not (line.separator and _NAME.fullmatch(line.name)):
            if is_well:  # the next ones are mostly its consequence
                what = "found a line that is not name=value"
                remedy = "Write it so, and \\ at the end of a line that goes on in the next one."
                problems.add(location, path, what, remedy)
            is_well = False
        elif line.name in entries:
            what = f"stands here twice, first on line {entries[line.name].location.line}"
            problems.add(location, (*path, line.name), what, "Remove one of the two.")
        else:
            entries[line.name] = _value(line, location, (*path, line.name), problems)
    return MapNode(node.location, entries)


def _value(line: _Line, location: Location, path: KeyPath, problems: Problems) -> ScalarNode:
    # Kafka's Java client takes away the blanks that Java leaves at the end of a value.
    text = _plain(line.value).rstrip(_BLANK)
    if _HALF_ESCAPE.search(line.value) or not is_unicode(text):
        remedy = "Write \\\\ for a backslash, or \\u and the four digits of a character."
        problems.add(location, path, "found \\u that starts no character", remedy)
        return ScalarNode(location, "")
    return ScalarNode(location, text)


def _lines(text: str) -> Iterator[_Line]:
    natural = enumerate(re.split(r"\r\n?|\n", text))
    for number, start in natural:
        line = start.lstrip(_BLANK)
        if line in ("", "\\") or line[0] in "#!":
            continue
        while _goes_on(line):
            line = line[:-1] + next(natural, (0, ""))[1].lstrip(_BLANK)
        parts = _PARTS.fullmatch(line)
        if parts:
            yield _Line(number, _plain(parts[1]), parts[2], parts[3])


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _plain(text: str) -> str:
    plain = _ESCAPE.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _CONTROL.get(found[2], found[2]), text
    )
    # Java writes a character beyond 16 bits as two halves.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
