"""Every mistake in a source's fields, and the exact sentence that names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

ALL = ""  # the whole of the good text is replaced
NAME = "a name of letters, digits and _ (at most 100) that starts with a letter"
COLUMN = (
    f"{NAME} and is not 'ts'. Choose such a name; "
    "{type: ..., from: ...} reads a field of any name in the JSON."
)
TYPES = "text, integer, float, decimal(P,S), boolean, timestamp, timestamp(s|ms|us|ns)"
TYPE_REMEDY = "Choose one of these; P is 1 to 38 digits, S of them after the point."
JSON_NAME = (
    "expected the field's name in the JSON, without quotes, backslashes and control characters. "
    "Rename the field where it is written."
)

CASES: dict[str, tuple[str, str, str]] = {
    "no field": (
        ALL,
        "sources:\n  users:\n    topic: users\n    key: id\n    time: at\n    fields: {}\n",
        "6: sources.users.fields: there is no field. Add at least one such as 'userId: text'.",
    ),
    "no fields": (
        ALL,
        "sources:\n  users:\n    topic: users\n    key: id\n",
        "2: sources.users.fields: there is no field. Add at least one such as 'userId: text'.",
    ),
    "fields in a list": (
        ALL,
        "sources:\n  users:\n    topic: users\n    key: id\n    fields: [id]\n",
        "5: sources.users.fields: found a list, expected keys and values. "
        "Write one 'key: value' to a line, indented under this key.",
    ),
    "type": (
        "age: integer",
        "age: int",
        f"10: sources.users.fields.age: found 'int', expected one of {TYPES}. "
        "Did you mean 'integer'?",
    ),
    "type out of range": (
        "decimal(18,2)",
        "decimal(39,2)",
        f"19: sources.accounts.fields.balance: found 'decimal(39,2)', expected one of {TYPES}. "
        "Did you mean 'decimal(18,2)'?",
    ),
    "type unknown": (
        "age: integer",
        "age: blob",
        f"10: sources.users.fields.age: found 'blob', expected one of {TYPES}. {TYPE_REMEDY}",
    ),
    "type empty": (
        "age: integer",
        "age:",
        f"10: sources.users.fields.age: found nothing, expected one of {TYPES}. {TYPE_REMEDY}",
    ),
    "type missing": (
        "age: integer",
        "age: {from: user-age}",
        f"10: sources.users.fields.age.type: missing. Add it: one of {TYPES}.",
    ),
    "JSON name with a quote": (
        "age: integer",
        'age: {type: integer, from: "it\'s"}',
        f"10: sources.users.fields.age.from: found 'it's', {JSON_NAME}",
    ),
    "JSON name with a backslash": (
        "age: integer",
        "age: {type: integer, from: a\\b}",
        f"10: sources.users.fields.age.from: found 'a\\b', {JSON_NAME}",
    ),
    "JSON name with a control character": (
        "age: integer",
        'age: {type: integer, from: "a\\tb"}',
        f"10: sources.users.fields.age.from: found 'a\\tb', {JSON_NAME}",
    ),
    "JSON name empty": (
        "age: integer",
        'age: {type: integer, from: ""}',
        f"10: sources.users.fields.age.from: found '', {JSON_NAME}",
    ),
    "half a character": (
        "age: integer",
        'age: {type: integer, from: "\\ud800"}',
        "10: sources.users.fields.age.from: found half a character. Write whole characters.",
    ),
    "column's name": (
        "age: integer",
        "user-age: integer",
        f"10: sources.users.fields.user-age: found 'user-age', expected {COLUMN}",
    ),
    "column with _": (
        "age: integer",
        "_age: integer",
        f"10: sources.users.fields._age: found '_age', expected {COLUMN}",
    ),
    "column named ts": (
        "age: integer",
        "ts: integer",
        f"10: sources.users.fields.ts: found 'ts', expected {COLUMN}",
    ),
    "columns that case alone tells apart": (
        "age: integer",
        "userid: integer",
        "10: sources.users.fields.userid: differs from 'userId' in upper and lower case alone. "
        "Rename one of the two.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_mistake_is_named_in_one_sentence(
    complaints_after: Callable[[str, str], list[str]], case: str
) -> None:
    old, new, sentence = CASES[case]
    assert complaints_after(old, new) == [f"evergrid.yaml:{sentence}"]
