"""Nothing in the tree may tie it to one machine or one place to download from.

A lock file that names a registry bypasses the mirror that someone must use; a path into
a home folder works for one person. Says file and line of each, and fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
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


def problems(path: str, text: str) -> Iterator[str]:
    """One sentence per line that must not be there."""
    for number, line in enumerate(text.splitlines(), start=1):
        for what, pattern in FORBIDDEN.items():
            if match := pattern.search(line):
                yield f"{path}:{number}: {what}: {match[0].strip()}"


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
    found: list[str] = []
    for name in names:
        path = ROOT / name
        if path.is_file():
            found += problems(name, path.read_text(encoding="utf-8", errors="replace"))
    print("\n".join(found) or f"check_tree: {len(names)} files are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
