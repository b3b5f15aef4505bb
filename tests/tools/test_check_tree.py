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


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/evergrid/kafka/a.py", "class Desk:"),
        ("src/evergrid/kafka/a.py", "self._front_desk = 1"),
        ("web/app/src/a.ts", "const frontDesk = 1;"),
        ("web/app/src/a.css", ".front-desk { color: red }"),
        ("src/evergrid/kafka/front_desk.py", "x = 1"),
    ],
)
def test_a_name_with_a_metaphor_is_found(tool: Tool, path: str, line: str) -> None:
    (problem,) = list(tool("check_tree").problems(path, line))[:1]
    assert "has the word desk" in problem


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/evergrid/kafka/a.py", "# from the desk of somebody"),
        ("src/evergrid/kafka/a.py", "class Desktop:"),
        ("tests/a.py", "class Desk:"),
        ("src/evergrid/gateway/web/main.js", "class Desk {}"),
    ],
)
def test_other_text_may_have_such_words(tool: Tool, path: str, line: str) -> None:
    assert list(tool("check_tree").problems(path, line)) == []
