"""Every message of a source is a row or a quarantine entry, and the judge stands alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from evergrid.testing import oracle
from evergrid.testing.oracle import Message

SPEC = oracle.from_config(
    {
        "sources": {
            "users": {"topic": "u", "key": "id", "fields": {"id": "text", "age": "integer"}},
            "accounts": {"topic": "a", "key": "id", "fields": {"id": "text"}},
        }
    }
)
MESSAGES = (
    Message("u", 0, 0, 1000, None, b'{"id": "x", "age": 3, "more": 1}'),
    Message("u", 0, 1, 1001, None, b'{"id": "x", "age": "abc"}'),
    Message("u", 2, 0, 1002, None, None),
    Message("a", 0, 0, 1003, None, b"{}"),
    Message("elsewhere", 0, 0, 1004, None, b"not ours"),
)


def test_raw_shows_the_rows_of_one_source() -> None:
    assert oracle.raw(MESSAGES, SPEC.sources["users"]) == {
        "0:0": {
            "id": "x",
            "age": 3,
            "ts": 1_000_000,
            "_partition": 0,
            "_offset": 0,
            "_unknown_fields": 1,
        }
    }


def test_quarantine_shows_what_is_no_row_with_kafkas_time() -> None:
    assert oracle.quarantine(MESSAGES, SPEC.sources, SPEC.limits) == {
        "u:0:1": {
            "topic": "u",
            "reason": "age: 'abc' is not integer",
            "text": '{"id": "x", "age": "abc"}',
            "ts": 1_001_000,
            "_partition": 0,
            "_offset": 1,
        },
        "u:2:0": {
            "topic": "u",
            "reason": "tombstone",
            "text": None,
            "ts": 1_002_000,
            "_partition": 2,
            "_offset": 0,
        },
    }


def test_the_judge_shares_no_code_with_what_it_judges() -> None:
    files = sorted(Path(oracle.__file__).parent.glob("*.py"))
    imported = {
        name
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for name in _imports(node)
    }
    outside = {name for name in imported if not name.startswith("evergrid.testing.oracle")}
    assert len(files) > 1
    assert {name.split(".")[0] for name in outside} <= sys.stdlib_module_names


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return []
