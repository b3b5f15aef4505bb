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
        ("src/evergrid/kafka/a.py", "class Desk: ..."),
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
        ("src/evergrid/kafka/a.py", "class Desktop: ..."),
        ("tests/a.py", "class Desk:"),
        ("src/evergrid/gateway/web/main.js", "class Desk {}"),
    ],
)
def test_other_text_may_have_such_words(tool: Tool, path: str, line: str) -> None:
    assert list(tool("check_tree").problems(path, line)) == []


def test_a_long_module_and_a_long_function_are_found(tool: Tool) -> None:
    check = tool("check_tree")
    body = "def f() -> None:\n" + "    pass\n" * (check.LONGEST_FUNCTION - 1)
    assert list(check.problems("src/evergrid/a.py", body)) == []
    (problem,) = check.problems("src/evergrid/a.py", body + "    pass\n")
    assert problem.startswith("src/evergrid/a.py:1: f has 61 lines")
    lines = "x = 1\n" * check.LONGEST_FILE
    assert list(check.problems("src/evergrid/a.py", lines)) == []
    (problem,) = check.problems("src/evergrid/a.py", lines + "x = 1\n")
    assert problem.startswith("src/evergrid/a.py: 401 lines")
    assert list(check.problems("tests/test_a.py", lines + "x = 1\n")) == []


def test_two_modules_with_one_name_are_found(tool: Tool) -> None:
    same_names = tool("check_tree").same_names
    paths = ["src/a/b.py", "src/c/__init__.py", "src/d/__init__.py", "tests/b.py"]
    assert list(same_names(paths)) == []
    assert list(same_names([*paths, "src/c/b.py"])) == ["src/c/b.py: has the name of src/a/b.py"]
