"""Lists of values in a configuration."""

from __future__ import annotations

from typing import TypeVar

from evergrid.config.section import Section
from evergrid.config.values import Value
from evergrid.config.yaml_tree import ListNode, MapNode, ScalarNode

T = TypeVar("T")


def listed(section: Section, key: str, value: Value[T]) -> tuple[T, ...]:
    """A list of values; an environment variable has them in one text, with commas between."""
    node = section.node(key)
    if isinstance(node, ListNode):
        entries = MapNode(node.location, {str(i): item for i, item in enumerate(node.items)})
    elif isinstance(node, ScalarNode):
        texts = [] if node.null else [text.strip() for text in node.text.split(",")]
        entries = MapNode(
            node.location,
            {str(i): ScalarNode(node.location, text) for i, text in enumerate(texts)},
        )
    else:
        section.value(key, value)  # reports keys and values where a list should be
        return ()
    listing = Section(entries, (*section.path, key), section.problems)
    return tuple(dict.fromkeys(listing.value(number, value) for number in listing.names))
