"""Checks the tree for text that must not be in it, and prints file and line of each.

A lock file that names a registry bypasses the mirror that someone must use; a path into a home
directory works for one person. Names in the code use the words of the field, not metaphors. Files
and functions stay short, and no two modules have the same name.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _host(*labels: str) -> str:
    # From parts, so that this file passes its own check.
    return re.escape(".".join(labels))


_HOSTS = (
    _host("pypi", "org"),
    _host("pythonhosted", "org"),
    _host("npmjs", "org"),
    _host("npmjs", "com"),
    _host("yarnpkg", "com"),
    _host("maven", "org"),
    _host("maven", "apache", "org"),
    _host("anaconda", "org"),
    _host("crates", "io"),
)

FORBIDDEN = {
    "names a package registry": re.compile(rf"\b(?:{'|'.join(_HOSTS)})\b", re.IGNORECASE),
    "has a path into a home folder": re.compile(
        r"(?<![\w.$}~-])/(?:home|Users)/\w|(?<![\w.$}~/-])/ro{2}t/|[A-Z]:\\Users\\"
    ),
    "names where to download from": re.compile(
        r"""^\s*(?:--(?:extra-)?index-url\b|--find-links\b|(?:extra-)?index-url\s*=)"""
        r"""|"resolved"\s*:"""
    ),
}

# Metaphors that names in the code once had, each with more than one meaning.
METAPHORS = frozenset(
    [
        "conductor",
        "desk",
        "docket",
        "door",
        "ear",
        "gate",
        "guest",
        "guests",
        "herald",
        "house",
        "keeper",
        "knock",
        "lapse",
        "leash",
        "lobby",
        "manners",
        "pane",
        "pulse",
        "reception",
        "seat",
        "shelf",
        "steering",
        "surroundings",
        "switchboard",
        "turnstile",
        "workshop",
    ]
)
LONGEST_FILE, LONGEST_FUNCTION = 400, 60  # lines

_MODULE = re.compile(r"src/.*\.py")
_CODE = re.compile(r"(?:src|web)/.*\.(?:py|ts|css|html|java)")
_BUILT = ("src/evergrid/gateway/web/", "web/build/")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_DEFINED = re.compile(r"\b(?:class|def|enum|function|interface|record|type) (\w+)")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def problems(path: str, text: str) -> Iterator[str]:
    """One sentence for each problem in a file."""
    is_code = _CODE.fullmatch(path) is not None and not path.startswith(_BUILT)
    if is_code and (word := metaphor(Path(path).name.split(".")[0])):
        yield f"{path}: the file's name has the word {word}"
    if _MODULE.fullmatch(path):
        yield from too_long(path, text)
    for number, line in enumerate(text.splitlines(), start=1):
        for what, pattern in FORBIDDEN.items():
            if match := pattern.search(line):
                yield f"{path}:{number}: {what}: {match[0].strip()}"
        for name in names(line) if is_code else ():
            if word := metaphor(name):
                yield f"{path}:{number}: the name {name} has the word {word}"


def too_long(path: str, text: str) -> Iterator[str]:
    """One sentence for a module that is too long, and for each function that is."""
    if (lines := text.count("\n")) > LONGEST_FILE:
        yield f"{path}: {lines} lines, more than {LONGEST_FILE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                what = f"{node.name} has {lines} lines, more than {LONGEST_FUNCTION}"
                yield f"{path}:{node.lineno}: {what}"


def same_names(paths: Iterable[str]) -> Iterator[str]:
    """One sentence for each module that has the name of another one."""
    first: dict[str, str] = {}
    for path in filter(_MODULE.fullmatch, paths):
        name = Path(path).name
        other = first.setdefault(name, path)
        if other != path and not name.startswith("__"):
            yield f"{path}: has the name of {other}"


def metaphor(name: str) -> str:
    """The first word of a name that is a metaphor, if there is one."""
    words = (word.lower() for word in _WORD.findall(name))
    return next((word for word in words if word in METAPHORS), "")


def names(line: str) -> Iterator[str]:
    """Names in a line of code: those of several words, and those that it defines."""
    yield from _DEFINED.findall(line)
    for name in _NAME.findall(line):
        if "_" in name or "-" in name or name[1:] != name[1:].lower():
            yield name


def tree() -> list[str]:
    """Every file that is, or is about to be, under version control."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name]


def main() -> int:
    try:
        names = tree()
    except (OSError, subprocess.CalledProcessError):
        print("check_tree: not a git checkout, so there is nothing to check")
        return 0
    found = list(same_names(names))
    for name in names:
        path = ROOT / name
        if path.is_file():
            found += problems(name, path.read_text(encoding="utf-8", errors="replace"))
    print("\n".join(found) or f"check_tree: {len(names)} files are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
