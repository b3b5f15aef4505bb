"""default.yaml and docs/configuration.md say what the declarations of the keys say."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import yaml

Tool = Callable[[str], ModuleType]


@pytest.fixture
def reference(tool: Tool) -> ModuleType:
    return tool("config_reference")


def test_the_default_file_is_what_the_declarations_say(reference: ModuleType) -> None:
    text = reference.DEFAULTS.read_text(encoding="utf-8")
    assert reference.default_file(yaml.safe_load(text)) == text, "run make reference"


def test_the_tables_of_the_page_are_what_the_declarations_say(reference: ModuleType) -> None:
    text = reference.PAGE.read_text(encoding="utf-8")
    assert reference.page(text) == text, "run make reference"
    sections = [name for name, shape in reference.CONFIGURATION.keys.items() if not is_key(shape)]
    for name in ("", *sections):
        assert text.count(reference.table(name)) == 1, name


def test_a_table_that_says_something_else_is_replaced(reference: ModuleType) -> None:
    stale = "# Limits\n<!-- keys: limits -->\n| old |\n<!-- end of keys -->\nMore.\n"
    assert reference.page(stale) == (
        "# Limits\n<!-- keys: limits -->\n\n"
        "| key | meaning | default | allowed |\n| --- | --- | --- | --- |\n"
        "| `message_bytes` | a larger source message goes to quarantine | `262144` | a whole "
        "number from 1024 to 16777216 |\n"
        "| `nesting` | so does one that nests deeper | `64` | a whole number from 1 to 1000 |\n"
        "| `quarantine_characters` | how much of a bad message's text is shown | `4096` | a whole "
        "number from 1 to 65536 |\n"
        "\n<!-- end of keys -->\nMore.\n"
    )


def is_key(shape: object) -> bool:
    return type(shape).__name__ == "Key"
