"""Every mistake in the keys themselves, and the exact sentence that names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

MORE = "# more\n"  # its last line, 28

CASES: dict[str, tuple[str, str, str]] = {
    "unknown key": (
        "    topic: users\n",
        "    topic: users\n    topik: x\n",
        "4: sources.users.topik: unknown key 'topik'. Did you mean 'topic'?",
    ),
    "unknown key near nothing": (
        MORE,
        "limits: {zzz: 1}\n",
        "28: limits.zzz: unknown key 'zzz'. "
        "Known here: message_bytes, nesting, quarantine_characters.",
    ),
    "unknown key at the top": (
        MORE,
        "source: {}\n",
        "28: source: unknown key 'source'. Did you mean 'sources'?",
    ),
    "key twice": (
        "    topic: users\n",
        "    topic: users\n    topic: people\n",
        "4: sources.users.topic: the key 'topic' stands here twice, first on line 3. "
        "Remove one of the two.",
    ),
    "key twice, and alone": (
        MORE,
        "limits: {nesting: 5, nesting}\n",
        "28: limits: a key stands here twice, first on line 28. Remove one of the two. "
        "Put a blank after ':', and quotes around a value that has commas or colons in it.",
    ),
    "key alone": (
        MORE,
        "kafka: {properties: {a.b: c, d}}\n",
        "28: kafka.properties: found a key without a value. Put a blank after ':', and quotes "
        'around a value that has commas or colons in it. Write "" where an empty one is meant.',
    ),
    "key with other signs": (
        "  users:\n",
        "  my users: {}\n  users:\n",
        "2: sources: found a key that is not made of a-z, A-Z, 0-9, dots, slashes, _ and -. "
        "Rename it, or: "
        "Put a blank after ':', and quotes around a value that has commas or colons in it.",
    ),
    "key not a word": (
        MORE,
        "? [a]\n: b\n",
        "28: found a key that is not a word. Name the key.",
    ),
    "YAML tag": (
        "topic: users",
        "topic: !users",
        "3: sources.users.topic: found a YAML tag (!). "
        "Put quotes around a value that starts with a sign such as ! * & % @.",
    ),
    "YAML that refers to itself": (
        MORE,
        "retention: &r\n  tables: *r\n",
        "29: retention.tables: refers to itself. Write the values out.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_mistake_is_named_in_one_sentence(
    complaints_after: Callable[[str, str], list[str]], case: str
) -> None:
    old, new, sentence = CASES[case]
    assert complaints_after(old, new) == [f"evergrid.yaml:{sentence}"]
