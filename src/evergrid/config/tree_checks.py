"""What a file says, checked against the declared keys before its values are read."""

from __future__ import annotations

from evergrid.config.declaration import Group, Properties, Shape, below
from evergrid.config.java_properties import parse_properties
from evergrid.config.problems import KeyPath, Problems, quoted, suggestion
from evergrid.config.yaml_tree import SLIPS, MapNode, Node, ScalarNode


def known_keys(
    node: Node, shape: Shape, problems: Problems, path: KeyPath = (), has_secrets: bool = False
) -> Node:
    """`node` with the keys that `shape` declares; every other key is reported and left out.

    Pasted lines of a Java .properties file become the mapping that they stand for.
    """
    has_secrets = has_secrets or (isinstance(shape, Group | Properties) and shape.has_secrets)
    if isinstance(shape, Properties) and isinstance(node, ScalarNode) and not node.null:
        return parse_properties(node, path, problems)
    if not isinstance(node, MapNode):
        return node
    entries: dict[str, Node] = {}
    for key, child in node.entries.items():
        child_shape = below(shape, key)
        is_alone = isinstance(child, ScalarNode) and child.null
        if has_secrets and is_alone and not (isinstance(shape, Group) and child_shape):
            # YAML makes two entries of `{password: hunter2,secret}`, and the second one is a
            # piece of the password: it is reported without its name.
            remedy = f'{SLIPS} Write "" where an empty one is meant.'
            problems.add(child.location, path, "found a key without a value", remedy)
        elif isinstance(shape, Group) and not child_shape:
            known = shape.keys
            remedy = suggestion(key, known, f"Known here: {', '.join(known)}.")
            problems.add(child.location, (*path, key), f"unknown key {quoted(key)}", remedy)
        elif child_shape:
            entries[key] = known_keys(child, child_shape, problems, (*path, key), has_secrets)
        else:
            entries[key] = child
    return MapNode(node.location, entries)
