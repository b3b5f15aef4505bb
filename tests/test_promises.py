"""The page of promises names tests that exist, and marks those that only `make soak` runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def all_tests() -> dict[str, bool]:
    """The names of all tests; True for those with the mark `soak`."""
    found: dict[str, bool] = {}
    for file in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                marks = [ast.unparse(mark) for mark in node.decorator_list]
                found[node.name] = any("mark.soak" in mark for mark in marks)
    return found


def test_each_promise_names_tests_that_there_are() -> None:
    page, tests = (ROOT / "docs" / "promises.md").read_text(), all_tests()
    table = page.partition("## Long runs")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "`test_" in line]
    assert len(rows) >= 7
    for row in rows:
        quick, _, long = row.partition("⏱")
        for part, is_long in ((quick, False), (long, True)):
            for name in re.findall(r"`(test_\w+)`", part):
                assert tests.get(name) is is_long, name
