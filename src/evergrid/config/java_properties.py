"""Lines of a Java `.properties` file, pasted under a key as they are: ``properties: |``.

They are read by Java's rules and become the mapping that a person would have written, each value
with its own line. A line that is not name=value is reported without its text: it may be a piece of
a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evergrid.config.problems import KeyPath, Location, Problems
from evergrid.config.yaml_tree import MapNode, ScalarNode, is_unicode

_BLANK = " \t\f"
_PARTS = re.compile(r"((?:[^\\=: \t\f]|\\.)*)([ \t\f]*[=:]?[ \t\f]*)(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_HALF_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})")
_GOES_ON = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
# A line of a key in Base64 has no dots. A login whose line was not continued begins with the name
# of its class, or of an option such as username.
_NAME = re.compile(r"acks|debug|retries|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+(?<!LoginModule)")


def parse_properties(node: ScalarNode, path: KeyPath, problems: Problems) -> MapNode:
    """The mapping that pasted lines stand for."""
    if not node.literal:  # YAML has made one line of them
        remedy = "Write one 'key: value' to a line, indented under this key; or paste the lines of "
        remedy += f"a .properties file after '{path[-1]}: |'."
        problems.add(node.location, path, "found a single value, expected keys and values", remedy)
        return MapNode(node.location)
    entries: dict[str, ScalarNode] = {}
    is_well = True
    for number, name, separator, value in _lines(node.text):
        location = Location(node.location.origin, node.location.line + 1 + number)
        if not (separator and _NAME.fullmatch(name)):
            if is_well:  # the next ones are mostly its consequence
                what = "found a line that is not name=value"
                remedy = "Write it so, and \\ at the end of a line that goes on in the next one."
                problems.add(location, path, what, remedy)
            is_well = False
        elif name in entries:
            what = f"stands here twice, first on line {entries[name].location.line}"
            problems.add(location, (*path, name), what, "Remove one of the two.")
        else:
            # Kafka's Java client takes away the blanks that Java leaves at the end of a value.
            text = _plain(value).rstrip(_BLANK)
            is_broken = _HALF_ESCAPE.search(value) or not is_unicode(text)
            entries[name] = ScalarNode(location, "" if is_broken else text)
            if is_broken:
                remedy = "Write \\\\ for a backslash, or \\u and the four digits of a character."
                what = "found \\u that starts no character"
                problems.add(location, (*path, name), what, remedy)
    return MapNode(node.location, entries)


def _lines(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Each line's number, name, separator, and value, which still has Java's escapes."""
    natural = enumerate(re.split(r"\r\n?|\n", text))
    for number, start in natural:
        line = start.lstrip(_BLANK)
        if line in ("", "\\") or line[0] in "#!":
            continue
        while _GOES_ON.search(line):
            line = line[:-1] + next(natural, (0, ""))[1].lstrip(_BLANK)
        if parts := _PARTS.fullmatch(line):
            yield number, _plain(parts[1]), parts[2], parts[3]


def _plain(text: str) -> str:
    plain = _ESCAPE.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _CONTROL.get(found[2], found[2]), text
    )
    # Java writes a character beyond 16 bits as two halves.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
