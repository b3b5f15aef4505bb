"""Values that may refer to secrets: looked at while the configuration is read, never repeated."""

from __future__ import annotations

from typing import TypeVar

from evergrid.config.secrets import SecretReader
from evergrid.config.section import Section
from evergrid.config.value_types import Value
from evergrid.config.yaml_tree import ScalarNode
from evergrid.model.errors import ConfigError

T = TypeVar("T")


def refers(section: Section, key: str) -> bool:
    """Whether the value of `key` has a reference in it."""
    node = section.node(key)
    return isinstance(node, ScalarNode) and "${" in node.text


def reveal(section: Section, key: str, text: str, secrets: SecretReader) -> str:
    """What `text`, which belongs to `key`, stands for; a secret that is not there is reported."""
    try:
        return secrets.reveal(text).text
    except ConfigError as error:
        section.report(error.what, error.remedy, key)
        return ""


def value(section: Section, key: str, kind: Value[T], secrets: SecretReader) -> T:
    """As `section.value`, with the secrets in place; no error repeats what they are."""
    node = section.node(key)
    if not (isinstance(node, ScalarNode) and refers(section, key)):
        return section.value(key, kind)
    found = reveal(section, key, node.text, secrets)
    if kind.accepts(found):
        return kind.read(found)
    section.report(f"what the references stand for is not {kind.expected}", kind.remedy, key)
    return kind.stand_in
