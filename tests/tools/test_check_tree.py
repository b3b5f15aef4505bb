"""What would tie the tree to one machine or one registry is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

Tool = Callable[[str], ModuleType]


@pytest.mark.parametrize(
    "line",
    [
        "see https://" + "pypi" + ".org/simple",
        "https://files.python" + "hosted.org/packages/x.whl",
        "https://repo1.ma" + "ven.org/maven2",
        "path = /ho" + "me/ann/project",
        "'/Us" + "ers/ann/project'",
        "cd /ro" + "ot/project",
        "--index" + "-url https://mirror.example",
        "--find" + "-links wheels",
        '  "reso' + 'lved": "https://mirror.example/x.tgz",',
    ],
)
def test_is_found(tool: Tool, line: str) -> None:
    (problem,) = list(tool("check_tree").problems("a.txt", f"first\n{line}\n"))[:1]
    assert problem.startswith("a.txt:2: ")


@pytest.mark.parametrize(
    "line",
    [
        "set PIP_INDEX_URL to your mirror",
        "~/.cache/evergrid",
        "$HOME/home/x",
        "docs/home/page.md",
        "org.apache.maven.plugin",
        "the name is resolved: fine",
    ],
)
def test_is_let_through(tool: Tool, line: str) -> None:
    assert list(tool("check_tree").problems("a.txt", line)) == []
